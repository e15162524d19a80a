import type { Figures } from '@postern/contract/figures'
import type { Metric } from './metrics.ts'
import { valueText } from './scales.ts'
import { stepText } from './times.ts'

interface Props {
  caption: string
  metric: Metric
  figures: Figures
}

/** The numbers of a chart, the newest first. */
export function PointTable({ caption, metric: { lines, unit }, figures: { from, step, series } }: Props) {
  const start = Date.parse(from)
  const times = series.sent.map((_, index) => start + index * step * 1000)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll it
    <section className="points" aria-label={caption} tabIndex={0}>
      <table>
        <caption className="sr">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {lines.map(({ of, text }) => (
              <th key={of} scope="col" className="r">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times
            .map((time, index) => (
              <tr key={time}>
                <th scope="row" className="tn">
                  {stepText(time, step * 1000)}
                </th>
                {lines.map(({ of }) => (
                  <td key={of} className="r tn">
                    {valueText(series[of][index] ?? null, unit)}
                  </td>
                ))}
              </tr>
            ))
            .toReversed()}
        </tbody>
      </table>
    </section>
  )
}
