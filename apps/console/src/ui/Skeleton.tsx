/** A line of text that is on its way. `width` in percent. */
export function Skeleton({ width }: { width: number }) {
  return <i className="bone" style={{ width: `${width}%` }} aria-hidden="true" />
}
