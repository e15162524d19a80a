import type { ReactNode } from 'react'
import type { ChartProps } from './Chart.tsx'
import { LazyChart } from './LazyChart.tsx'

interface Props extends ChartProps {
  /** Beside the title. */
  children?: ReactNode
}

/** The traffic of something, as a card of its page. */
export function ChartCard({ children, ...chart }: Props) {
  return (
    <section className="card" aria-labelledby="traffic">
      <header className="card-head">
        <h2 id="traffic">Traffic</h2>
        {children}
      </header>
      <div className="card-body">
        <LazyChart {...chart} />
      </div>
    </section>
  )
}
