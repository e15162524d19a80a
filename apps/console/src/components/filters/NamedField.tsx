import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import type { Found } from '@postern/contract/find'
import { useState } from 'react'
import { useAnswer } from '../../api/queries.ts'
import { Autocomplete } from '../../ui/input/Autocomplete.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { SEARCH_DELAY } from '../../util/constants.ts'
import './Filters.css'

interface Props {
  kind: 'service' | 'node' | 'domain'
  /** What it is called, where that is known. */
  name: string | undefined
  id: string | undefined
  error: string | undefined
  /** Gets the id of a suggestion, or a text that is none. */
  onChange: (id: string) => void
}

const LABELS = { service: 'Service', node: 'Node', domain: 'Domain' } as const

/** A service, node or domain by its name, found as it is typed. */
export function NamedField({ kind, name, id, error, onChange }: Props) {
  const [text, setText] = useState(name ?? id ?? '')
  const wanted = useSettled(text.trim(), SEARCH_DELAY)
  const found = useAnswer(endpoints.find, { query: { text: wanted } }, { enabled: wanted !== '' }).data
  const options = optionsOf(kind, found)
  const change = (next: string) => {
    setText(next)
    onChange(options.find((option) => option.text === next)?.id ?? next.trim())
  }
  return (
    <Field label={LABELS[kind]} error={error}>
      {(control) => (
        <Autocomplete
          {...control}
          value={text}
          onValueChange={change}
          options={options.map((option) => option.text)}
          emptyText={wanted === '' ? 'Type a part of the name' : 'Nothing is called so'}
        />
      )}
    </Field>
  )
}

function optionsOf(kind: Props['kind'], found: Found | undefined): { id: string; text: string }[] {
  if (!found) return []
  if (kind === 'domain') return found.domains.map(({ domain }) => ({ id: domain, text: domain }))
  if (kind === 'node') return found.nodes.map(({ id, name }) => ({ id: String(id), text: name }))
  return found.services.map(({ id, name, nodeName }) => ({ id: String(id), text: `${name} on ${nodeName}` }))
}
