import type { ServicePlace } from '@postern/contract/services/many'
import { useState } from 'react'
import { Button } from '../../ui/Button.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { Pills } from '../../ui/input/Select.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/overlay/Dialog.tsx'
import { DomainPicker, NodePicker } from '../pickers/pickers.tsx'
import { countText, NOUNS } from './many-text.ts'

const TARGETS = [
  { value: 'node', text: 'To a node' },
  { value: 'domain', text: 'To a domain' },
] as const

const HINTS = {
  node: 'Addresses, ports and settings stay. Each backend must be reachable from there by the rules of its form.',
  domain: 'Paths, ports and settings stay. A path that is taken there keeps its service where it is.',
} as const

interface Props {
  count: number
  /** What is meant by them, if that is more than the page shows. */
  note: string
  onMove: (to: ServicePlace) => void
  onClose: () => void
}

/** Where many services move to: the one question about it. */
export function MoveDialog({ count, note, onMove, onClose }: Props) {
  const [kind, setKind] = useState<'node' | 'domain'>('node')
  const [picked, setPicked] = useState('')
  const choose = (next: string) => {
    setKind(next === 'domain' ? 'domain' : 'node')
    setPicked('')
  }
  const isNode = kind === 'node'
  const Picker = isNode ? NodePicker : DomainPicker
  const label = isNode ? 'Node' : 'Domain'
  const what = countText(count, NOUNS.service)
  return (
    <Dialog
      title={`Move ${what}`}
      description={`${note}What cannot move is left where it is, and you are told why.`}
      size="s"
      onClose={onClose}
    >
      <DialogBody>
        <Pills label="Move" options={TARGETS} value={kind} onValueChange={choose} />
        <Field label={label} hint={HINTS[kind]}>
          {(ids) => (
            <Picker
              key={kind}
              {...ids}
              label={label}
              value={picked}
              onPick={setPicked}
              placeholder={isNode ? 'Search name or address' : 'Search domain'}
            />
          )}
        </Field>
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="primary"
          disabled={picked === ''}
          onClick={() => onMove(isNode ? { nodeId: Number(picked) } : { domain: picked })}
        >
          Move {what}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
