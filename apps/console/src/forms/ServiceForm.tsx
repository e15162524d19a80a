import type { Node } from '@postern/contract/nodes'
import type { HttpServiceFormInput } from '@postern/contract/services'
import { ArrowRight } from 'lucide-react'
import { type Control, useWatch } from 'react-hook-form'
import { useConfig } from '../hooks/installation.ts'
import { previewRoute } from './http-service-values.ts'
import './RoutePreview.css'

interface Props {
  control: Control<HttpServiceFormInput>
  node: Node
}

/** What the form makes of itself so far: public address, node, backend. */
export function RoutePreview({ control, node }: Props) {
  const config = useConfig().data
  const { from, to } = previewRoute(useWatch({ control }), config?.publicUrl)
  return (
    <p className="preview">
      <span className="sr">Route: </span>
      <span className="mono" title={from}>
        {from}
      </span>
      <span className="hop">
        <ArrowRight className="ic" aria-label="to" />
        <b title={node.name}>{node.name}</b>
      </span>
      <span className="hop">
        <ArrowRight className="ic" aria-label="to" />
        <span className="mono" title={to}>
          {to}
        </span>
      </span>
    </p>
  )
}
