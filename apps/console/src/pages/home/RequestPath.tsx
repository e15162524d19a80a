import { Glyph } from '../../components/Glyph.tsx'

/** How a request travels, with made-up addresses. */
export function RequestPath() {
  return (
    <ol className="path" aria-label="How a request travels">
      <li>
        <span className="k">Visitor</span>
        <span className="v mono">https://app.example.com</span>
      </li>
      <li className="gate">
        <span className="k">
          <Glyph />
          Postern
        </span>
        <span className="v">certificate, routes, IP lists</span>
      </li>
      <li className="tun">
        <span className="k">Node</span>
        <span className="v">encrypted tunnel, no open port</span>
      </li>
      <li>
        <span className="k">Service</span>
        <span className="v mono">192.168.7.12:8080</span>
      </li>
    </ol>
  )
}
