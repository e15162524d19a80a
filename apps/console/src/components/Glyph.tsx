/** The mark of the product: a door in a wall. */
export function Glyph() {
  return (
    <svg className="glyph" viewBox="0 0 24 24" aria-hidden="true">
      <path d="M3.500 21.250V11.500a8.500 8.500 0 0 1 17 0v9.750M1.500 21.250h4M18.500 21.250h4" />
      <path className="gap" d="M13.750 7.500c1.600.7 2.750 2.250 2.750 4.100v9.650h-2.750z" />
      <path className="leaf" d="M7.250 21.250V11.600c0-2.200 1.500-4.050 3.500-4.600l3 1.750v14z" />
    </svg>
  )
}
