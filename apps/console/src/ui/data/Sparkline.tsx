import './Sparkline.css'

const WIDTH = 96
const HEIGHT = 24
/** Half of the line's own width, which else is cut off. */
const EDGE = 1

/** A small line of some numbers, oldest first, by its own scale. What it says is said in words beside it. */
export function Sparkline({ values }: { values: readonly number[] }) {
  const most = Math.max(...values, 1)
  const step = WIDTH / Math.max(values.length - 1, 1)
  const points = values.map((value, index) => {
    const y = HEIGHT - EDGE - (value / most) * (HEIGHT - 2 * EDGE)
    return `${(index * step).toFixed(1)},${y.toFixed(1)}`
  })
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}
