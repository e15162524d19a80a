import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { Blocks, Globe, type LucideIcon, Workflow } from 'lucide-react'
import { type ComponentProps, useState } from 'react'
import { useAnswer, usePage } from '../../api/queries.ts'
import { Autocomplete } from '../../ui/input/Autocomplete.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { SEARCH_DELAY } from '../../util/constants.ts'

/** So many are offered to choose from. */
const OFFERED = 20
const LONGEST = 253

interface PickerProps extends Pick<ComponentProps<'input'>, 'id' | 'placeholder' | 'aria-describedby'> {
  label: string
  /** The id of a node or the name of a domain; empty for none. */
  value: string
  onPick: (value: string) => void
}

/** One of the nodes, found by a part of its name or address. */
export function NodePicker({ value, ...props }: PickerProps) {
  const [typed, setTyped] = useState<string>()
  const picked = useAnswer(endpoints.getNode, { params: { id: value } }, { enabled: value !== '' })
  const search = useSettled((typed ?? '').slice(0, LONGEST), SEARCH_DELAY)
  const query = { search, limit: OFFERED, orderBy: 'name,asc' }
  const found = usePage(endpoints.listNodes, { query }, { enabled: typed !== undefined }).data?.data ?? []
  const options = found.map((node) => ({ value: String(node.id), text: nodeText(node) }))
  const name = value === '' ? '' : picked.data ? nodeText(picked.data) : picked.isError ? 'Unknown node' : '…'
  return <Picker {...props} icon={Workflow} shown={name} typed={typed} onTyped={setTyped} options={options} />
}

/** Two nodes may have one name, and none have one address. */
function nodeText({ name, address }: { name: string; address: string }): string {
  return `${name} (${address})`
}

/** One of the domains that there are. */
export function DomainPicker({ value, ...props }: PickerProps) {
  const [typed, setTyped] = useState<string>()
  const search = useSettled((typed ?? '').trim().slice(0, LONGEST), SEARCH_DELAY)
  const query = { search, limit: OFFERED, orderBy: 'domain,asc' }
  const found = usePage(endpoints.listDomains, { query }, { enabled: typed !== undefined }).data?.data ?? []
  const options = found.map(({ domain }) => ({ value: domain, text: domain }))
  return <Picker {...props} icon={Globe} shown={value} typed={typed} onTyped={setTyped} options={options} />
}

interface FieldProps extends Omit<PickerProps, 'value'> {
  icon: LucideIcon
  /** What is picked, in words. */
  shown: string
  /** Undefined while nobody types. */
  typed: string | undefined
  onTyped: (text: string | undefined) => void
  options: readonly { value: string; text: string }[]
}

/** Text that matches no suggestion picks nothing and is cleared on blur. Empty text clears the choice. */
function Picker({ label, shown, typed, onTyped, onPick, options, ...props }: FieldProps) {
  const change = (text: string) => {
    const option = options.find((each) => each.text === text)
    if (option) {
      onTyped(undefined)
      onPick(option.value)
    } else {
      onTyped(text)
      if (text === '') onPick('')
    }
  }
  return (
    <Autocomplete
      {...props}
      aria-label={label}
      value={typed ?? shown}
      onValueChange={change}
      onFocus={() => onTyped(typed ?? (shown === '' ? '' : undefined))}
      onBlur={() => onTyped(undefined)}
      options={options.map(({ text }) => text)}
      emptyText="No match."
    />
  )
}

/** One of the domains, by its id. */
export function DomainIdPicker({ value, ...props }: PickerProps) {
  const [typed, setTyped] = useState<string>()
  const picked = useAnswer(endpoints.getDomain, { params: { id: value } }, { enabled: value !== '' })
  const search = useSettled((typed ?? '').trim().slice(0, LONGEST), SEARCH_DELAY)
  const query = { search, limit: OFFERED, orderBy: 'domain,asc' }
  const found = usePage(endpoints.listDomains, { query }, { enabled: typed !== undefined }).data?.data ?? []
  const options = found.map(({ id, domain }) => ({ value: String(id), text: domain }))
  const name = value === '' ? '' : (picked.data?.domain ?? (picked.isError ? 'Unknown domain' : '…'))
  return <Picker {...props} icon={Globe} shown={name} typed={typed} onTyped={setTyped} options={options} />
}

interface NamedProps extends PickerProps {
  /** The name shown for the initial choice. */
  name: string | null
}

/** One of the services. */
export function ServicePicker({ value, name, ...props }: NamedProps) {
  const [typed, setTyped] = useState<string>()
  const [picked, setPicked] = useState(name ?? '')
  const search = useSettled((typed ?? '').trim().slice(0, LONGEST), SEARCH_DELAY)
  const query = { search, limit: OFFERED, orderBy: 'name,asc' }
  const found =
    usePage(endpoints.listAllServices, { query }, { enabled: typed !== undefined }).data?.data ?? []
  const options = found.map(({ id, name, nodeName }) => ({
    value: String(id),
    text: `${name} (${nodeName})`,
  }))
  const pick = (next: string) => {
    setPicked(options.find((option) => option.value === next)?.text ?? '')
    props.onPick(next)
  }
  return (
    <Picker
      {...props}
      onPick={pick}
      icon={Blocks}
      shown={value === '' ? '' : picked}
      typed={typed}
      onTyped={setTyped}
      options={options}
    />
  )
}
