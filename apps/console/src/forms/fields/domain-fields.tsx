import { endpoints } from '@postern/contract/endpoints/console-endpoints'
import { Globe } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import {
  type Control,
  type FieldError,
  type FieldValues,
  get,
  type Path,
  type UseFormReturn,
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

/** How many domains are offered. */
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
          // While its list is open, everything else is hidden from a screen reader, including the label.
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

/** The first domains that contain this text, requested when typing pauses. `isNew`: no domain does. */
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
    /** No other domain matches. */
    isWhole: isCurrent && data !== undefined && data.total === found.length,
    names: isCurrent ? names : names.filter((name) => name.includes(typed.toLowerCase())),
    isNew: isCurrent && typed !== '' && data?.total === 0,
  }
}

interface HintProps {
  domain: string
  /** True for the console itself, which never runs in the sandbox. */
  isConsole: boolean
}

/** Below the domain of an HTTP service: a warning when it shares the host of the console. */
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
      // Its name in both forms that may add a domain.
      name={'skipValidation' as Path<V>}
      label="Skip Domain Validation"
      text="Save without checking DNS."
      onCheckedChange={(checked) => {
        if (checked) onTicked()
      }}
    />
  )
}

interface AnswerProps<V extends FieldValues> {
  form: Pick<UseFormReturn<V>, 'control' | 'clearErrors'>
  name: Path<V>
  /** The errors of the domain that it answers. */
  asked: readonly unknown[]
  label: string
  text: string
}

/** A box that answers what the server asked about the domain, and takes the question away. */
export function DomainAnswerField<V extends FieldValues>({ form, name, asked, label, text }: AnswerProps<V>) {
  const { control, clearErrors } = form
  const isOffered = useSkipOffered(control, ({ message }) => asked.includes(message), name)
  if (!isOffered) return null
  return (
    <CheckboxField
      {...{ control, name, label, text }}
      onCheckedChange={(checked) => {
        // Its name in all forms with such a box.
        if (checked) clearErrors('domain' as Path<V>)
      }}
    />
  )
}

/**
 * Whether a checkbox about the domain, like Skip Domain Validation, is shown: while `counts` accepts the domain's
 * error, and while it is ticked. It stays while the refused domain is in the field: leaving the field clears the
 * error, and the checkbox must not vanish while the pointer moves to it.
 */
export function useSkipOffered<V extends FieldValues>(
  control: Control<V>,
  counts: (error: FieldError) => boolean,
  box = 'skipValidation',
  field = 'domain',
): boolean {
  // The names of these fields in all forms with such a checkbox.
  const [domainName, skipName] = [field, box] as [Path<V>, Path<V>]
  const [domain, skips] = useWatch({ control, name: [domainName, skipName] })
  const { errors } = useFormState({ control, name: domainName })
  const error: FieldError | undefined = get(errors, domainName)
  const [refused, setRefused] = useState<unknown>()
  const isRefused = error !== undefined && counts(error)
  if (isRefused && refused !== domain) setRefused(domain)
  return isRefused || Boolean(skips) || (refused !== undefined && refused === domain)
}
