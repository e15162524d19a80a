import type { Node } from '@postern/contract/nodes'
import { Info } from 'lucide-react'
import { Field } from '../ui/Field.tsx'
import { StatusDot } from '../ui/StatusDot.tsx'
import { TextInput } from '../ui/TextInput.tsx'
import { Tooltip } from '../ui/Tooltip.tsx'

const STATUS = { online: 'Connected', idle: 'Idle', offline: 'Not connected' } as const

/** The node that a service belongs to: read-only, with what matters about it in a tooltip. */
export function NodeNameField({ node }: { node: Node }) {
  return (
    <Field
      label="Node Name"
      labelEnd={
        <Tooltip text={<NodeFacts node={node} />} focusable className="tip">
          <Info className="ic" />
          <span className="sr">About the node</span>
        </Tooltip>
      }
    >
      {(ids) => (
        <div className="affix ro">
          {!node.isLocal && (
            <span className="pre">
              <StatusDot status={node.status} />
            </span>
          )}
          <TextInput {...ids} value={node.name} readOnly />
          <span className="post mono">{node.address}</span>
        </div>
      )}
    </Field>
  )
}

function NodeFacts({ node }: { node: Node }) {
  const facts = [
    ['Node', node.name],
    ['Internal IP', node.address],
    ['Status', node.isLocal ? 'This server' : STATUS[node.status]],
    ['Gateway', node.isGateway ? 'Yes' : 'No'],
  ]
  return facts.map(([name, value]) => <span key={name} className="line">{`${name}: ${value}`}</span>)
}
