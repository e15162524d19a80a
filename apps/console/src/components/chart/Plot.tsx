import type { FiguresSpan } from '@postern/contract/figures'
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Line } from './metrics.ts'
import { linePath } from './paths.ts'
import { scaleFor, tickText, type Unit } from './scales.ts'
import { timeTicks } from './times.ts'

interface Props {
  /** What a screen reader calls it. */
  label: string
  span: FiguresSpan
  unit: Unit
  /** When the first point begins, and how long each is, in ms. */
  from: number
  step: number
  lines: readonly (Line & { values: readonly (number | null)[] })[]
  /** The point under the crosshair. */
  index: number | null
  /** What that point says. */
  indexText: string
  onMove: (index: number | null) => void
  onOpen: (index: number) => void
}

const HEIGHT = 220
const MARGIN = { top: 8, right: 10, bottom: 24, left: 58 }
/** Between the marks of time, in px. */
const TICK_ROOM = 64
/** Points that the keys for pages go. */
const PAGE = 10

/** Lines over time, with a crosshair for the pointer and for the arrow keys. */
export function Plot(props: Props) {
  const { label, lines, index, indexText, onMove, onOpen } = props
  const [frame, width] = useWidth()
  const length = lines[0]?.values.length ?? 0
  const last = length - 1
  const inner = Math.max(width - MARGIN.left - MARGIN.right, 1)
  const indexAt = (event: PointerEvent) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - MARGIN.left
    return Math.min(Math.max(Math.round((x / inner) * last), 0), last)
  }
  const press = (event: KeyboardEvent) => {
    const to = event.key === 'Escape' && index !== null ? null : moved(event.key, index ?? last, last)
    if (event.key === 'Enter' && index !== null) onOpen(index)
    else if (to === undefined) return
    else onMove(to)
    event.preventDefault()
    // Escape also closes what the chart is in.
    event.stopPropagation()
  }
  return (
    <div
      ref={frame}
      className="plot"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index ?? last}
      aria-valuetext={indexText}
      onKeyDown={press}
      onPointerMove={(event) => onMove(indexAt(event))}
      onPointerDown={(event) => onMove(indexAt(event))}
      onPointerLeave={(event) => event.pointerType === 'mouse' && onMove(null)}
      onClick={(event) => {
        // A finger only chooses: the link beside the values leads on.
        if (!(event.nativeEvent instanceof window.PointerEvent) || event.nativeEvent.pointerType !== 'mouse')
          return
        if (index !== null) onOpen(index)
      }}
    >
      {width > 0 && <Drawing {...props} width={width} inner={inner} last={last} />}
    </div>
  )
}

interface DrawingProps extends Props {
  width: number
  inner: number
  last: number
}

function Drawing({ span, unit, from, step, lines, index, width, inner, last }: DrawingProps) {
  const most = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const { top, ticks } = scaleFor(most, unit)
  const [floor, height] = [HEIGHT - MARGIN.bottom, HEIGHT - MARGIN.bottom - MARGIN.top]
  const x = (at: number) => MARGIN.left + (at / Math.max(last, 1)) * inner
  const y = (value: number) => floor - (value / top) * height
  const times = timeTicks(span, { from, step, length: last + 1 }, Math.floor(inner / TICK_ROOM))
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true" focusable="false">
      {ticks.map((value) => (
        <g key={value}>
          <line className="grid" x1={MARGIN.left} x2={width - MARGIN.right} y1={y(value)} y2={y(value)} />
          <text x={MARGIN.left - 8} y={y(value) + 4} textAnchor="end">
            {tickText(value, unit)}
          </text>
        </g>
      ))}
      {times.map(({ index: at, text }) => (
        <text key={at} x={x(at)} y={HEIGHT - 6} textAnchor={at > last * 0.97 ? 'end' : 'middle'}>
          {text}
        </text>
      ))}
      {lines.toReversed().map(({ of, look, values }) => (
        <g key={of} className={look}>
          {look !== 'second' && lines.length === 1 && (
            <path className="area" d={linePath(values, x, y, floor)} />
          )}
          <path className="line" d={linePath(values, x, y)} />
        </g>
      ))}
      {index !== null && (
        <g>
          <line className="cross" x1={x(index)} x2={x(index)} y1={MARGIN.top} y2={floor} />
          {lines.map(({ of, look, values }) => {
            const value = values[index] ?? null
            return value !== null && <circle key={of} className={look} cx={x(index)} cy={y(value)} r={4} />
          })}
        </g>
      )}
    </svg>
  )
}

/** @returns undefined for other keys */
function moved(key: string, index: number, last: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: index - 1,
    ArrowDown: index - 1,
    ArrowRight: index + 1,
    ArrowUp: index + 1,
    PageDown: index - PAGE,
    PageUp: index + PAGE,
    Home: 0,
    End: last,
  }
  const to = steps[key]
  return to === undefined ? undefined : Math.min(Math.max(to, 0), last)
}

/** The width of an element in px, as it changes; 0 until it is known. */
function useWidth() {
  const element = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!element.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width] as const
}
