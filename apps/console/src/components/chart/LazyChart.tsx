import { useEffect, useRef, useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import type { ChartProps } from './Chart.tsx'
import './LazyChart.css'

/** How far below the screen a chart begins to load, so that it is there when it is seen. */
const AHEAD = '150px'

/** A chart whose code and figures are loaded when it comes into view. */
export function LazyChart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const [state, setState] = useState<'unseen' | 'wanted' | 'failed'>('unseen')
  const part = useLoaded(
    () => import('./Chart.tsx'),
    state === 'wanted',
    () => setState('failed'),
  )
  useEffect(() => {
    if (!place.current) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        setState('wanted')
        observer.disconnect()
      },
      { rootMargin: AHEAD },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place} className="chart">
      {part ? (
        <part.Chart {...props} />
      ) : state === 'failed' ? (
        <p className="chart-none">
          The chart couldn't be loaded. <Button onClick={() => setState('wanted')}>Try again</Button>
        </p>
      ) : (
        <div className="chart-wait" aria-busy="true">
          <Skeleton width={30} />
        </div>
      )}
    </div>
  )
}
