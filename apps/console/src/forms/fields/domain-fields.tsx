import { endpoints } from '@postern/contract/console-endpoints'
import { Globe } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  type Control,
  type FieldError,
  type FieldValues,
  get,
  type Path,
  useFormState,
  useWatch,
} from 'react-hook-form'
import { usePage } from '../../api/queries.ts'
import { isConsole } from '../../api/rules.ts'
import { Autocomplete } from '../../ui/input/Autocomplete.tsx'
import { Field } from '../../ui/input/Field.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import { SEARCH_DELAY } from '../../util/constants.ts'
import { serverUrls } from '../../util/urls.ts'
import { readAddress, type ServiceValues } from '../service/service-values.ts'
import { CheckboxField } from './bound-fields.tsx'
import { useBoundField } from './TextField.tsx'

/** So many domains are offered to choose from. */
const OFFERED = 20
/** No name in DNS is longer. */
const LONGEST_NAME = 253

interface FieldProps {
  control: Control<ServiceValues>
  label: string
  hint: ReactNode
}

/** The domain of a service: an existing one, or a new name. */
export function PublicDomainField({
  control,
  label,
  hint,
  disabled,
  onPath,
}: FieldProps & { disabled?: boolean; onPath?: ((path: string) => void) | undefined }) {
  const { field, note } = useBoundField({ control, name: 'domain' })
  const { value, onChange, ...input } = field
  const change = (text: string) => {
    const address = readAddress(text)
    onChange(address ? address.domain : text)
    if (address && address.path !== '/') onPath?.(address.path)
  }
  const { names, isNew } = useDomainsLike(value ?? '')
  return (
    <Field label={label} {...note} hint={hint}>
      {(ids) => (
        <Autocomplete
          {...ids}
          {...input}
          disabled={disabled}
          // While its list is open everything else is hidden from a screen reader, the label too.
          aria-label={label}
          value={value ?? ''}
          onValueChange={change}
          options={names}
          emptyText={isNew && 'No match. This will be added as a new domain.'}
          icon={Globe}
          placeholder="app.example.com"
        />
      )}
    </Field>
  )
}

/** The first domains with this in their names, asked for when typing pauses; `isNew` when there is none. */
export function useDomainsLike(text: string) {
  const typed = text.trim().slice(0, LONGEST_NAME)
  const search = useSettled(typed, SEARCH_DELAY)
  const query = { search, limit: OFFERED, orderBy: 'domain,asc' }
  const { data, isPlaceholderData } = usePage(endpoints.listDomains, { query })
  const isCurrent = search === typed && !isPlaceholderData
  const found = data?.data ?? []
  const names = found.map(({ domain }) => domain)
  return {
    found,
    /** There are no others like it. */
    isWhole: isCurrent && data !== undefined && data.total === found.length,
    names: isCurrent ? names : names.filter((name) => name.includes(typed.toLowerCase())),
    isNew: isCurrent && typed !== '' && data?.total === 0,
  }
}

interface HintProps {
  domain: string
  /** True for the console itself, which nothing breaks. */
  isConsole: boolean
}

/** Below the domain of an HTTP service: what it loses when it shares the host of the console. */
export function SandboxHint({ domain, isConsole }: HintProps) {
  const isTaken = useConsoleDomain() === domain
  if (isConsole) return 'Choose one or type a new name. The console also stays at the address of this server.'
  if (domain !== '' && !isTaken) return 'Choose one or type a new name.'
  const start =
    domain === ''
      ? 'Without a domain the service runs in a sandbox'
      : 'This is the domain of the console. A service here runs in a sandbox'
  return (
    <>
      {start}: cookies, browser storage and most sign-ins don't work, which breaks most applications. Give it
      a domain of its own.{' '}
      <a href={serverUrls.withoutDomain()} target="_blank" rel="noreferrer">
        What breaks
      </a>
    </>
  )
}

/** The console itself is the oldest service; undefined while it has no domain. */
function useConsoleDomain(): string | undefined {
  const input = { params: { type: 'http' }, query: { limit: 1 } }
  const first = usePage(endpoints.listServices, input).data?.data[0]
  return (first && isConsole(first) && first.domain) || undefined
}

interface SkipProps<V extends FieldValues> {
  control: Control<V>
  onTicked: () => void
}

export function SkipValidationField<V extends FieldValues>({ control, onTicked }: SkipProps<V>) {
  return (
    <CheckboxField
      control={control}
      // Both forms that may bring a new domain call it so.
      name={'skipValidation' as Path<V>}
      label="Skip Domain Validation"
      text="Save without checking DNS."
      onCheckedChange={(checked) => {
        if (checked) onTicked()
      }}
    />
  )
}

/**
 * Whether a box about the domain, Skip Domain Validation for one, is shown: while `counts` says so of the domain's error, and while it is
 * ticked. It stays as long as the refused domain is in the field: leaving the field clears the error, and
 * the box must not vanish while the pointer moves to it.
 */
export function useSkipOffered<V extends FieldValues>(
  control: Control<V>,
  counts: (error: FieldError) => boolean,
  box = 'skipValidation',
): boolean {
  // All forms that have such a box call these fields so.
  const [domainName, skipName] = ['domain', box] as [Path<V>, Path<V>]
  const [domain, skips] = useWatch({ control, name: [domainName, skipName] })
  const { errors } = useFormState({ control, name: domainName })
  const error: FieldError | undefined = get(errors, domainName)
  const [refused, setRefused] = useState<unknown>()
  const isRefused = error !== undefined && counts(error)
  if (isRefused && refused !== domain) setRefused(domain)
  return isRefused || Boolean(skips) || (refused !== undefined && refused === domain)
}
