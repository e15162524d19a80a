import qrcode from 'qrcode-generator'
import { useMemo } from 'react'
import './QrCode.css'

/** Cells of nothing around it, which readers need. */
const MARGIN = 4

/** A text as a QR code, drawn here. It is dark on light in both themes, as not every reader takes it inverted. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => draw(text), [text])
  const side = size + 2 * MARGIN
  return (
    <svg
      className="qr"
      role="img"
      aria-label={label}
      viewBox={`${-MARGIN} ${-MARGIN} ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <path d={path} />
    </svg>
  )
}

/** A path of one square for each dark cell. */
function draw(text: string): { size: number; path: string } {
  const code = qrcode(0, 'M')
  code.addData(text)
  code.make()
  const size = code.getModuleCount()
  const rows = Array.from({ length: size }, (_, row) => row)
  const cells = rows.flatMap((row) =>
    rows.filter((column) => code.isDark(row, column)).map((column) => `M${column} ${row}h1v1h-1z`),
  )
  return { size, path: cells.join('') }
}
