import { endpoints } from '@postern/contract/endpoints'
import { Globe } from 'lucide-react'
import { useState } from 'react'
import {
  type Control,
  type FieldError,
  type FieldValues,
  get,
  type Path,
  useFormState,
  useWatch,
} from 'react-hook-form'
import { useAllRows } from '../api/queries.ts'
import { Autocomplete } from '../ui/Autocomplete.tsx'
import { Field } from '../ui/Field.tsx'
import { serverUrls } from '../util/urls.ts'
import { CheckboxField } from './bound-fields.tsx'
import type { ServiceValues } from './service-values.ts'
import { useBoundField } from './TextField.tsx'

const LABEL = 'Public Domain'

interface FieldProps {
  control: Control<ServiceValues>
  /** True for the console itself, which nothing breaks. */
  isConsole: boolean
}

/** The domain of a service: an existing one, or a new name. */
export function PublicDomainField({ control, isConsole }: FieldProps) {
  const domains = useAllRows(endpoints.listDomains, {}).map((each) => each.domain)
  const { field, error } = useBoundField({ control, name: 'domain' })
  const { value, onChange, ...input } = field
  return (
    <Field
      label={LABEL}
      error={error}
      hint={<DomainHint domain={value?.trim().toLowerCase() ?? ''} domains={domains} isConsole={isConsole} />}
    >
      {(ids) => (
        <Autocomplete
          {...ids}
          {...input}
          // While its list is open everything else is hidden from a screen reader, the label too.
          aria-label={LABEL}
          value={value ?? ''}
          onValueChange={onChange}
          options={domains}
          icon={Globe}
          placeholder="app.example.com"
        />
      )}
    </Field>
  )
}

interface HintProps {
  domain: string
  /** The names of all domains. */
  domains: readonly string[]
  isConsole: boolean
}

/** Below the domain: what a service loses that shares the host of the console. */
function DomainHint({ domain, domains, isConsole }: HintProps) {
  const isTaken = useIsConsoleDomain(domain, !isConsole && domains.includes(domain))
  if (isConsole) return 'Choose one or type a new name. The console also stays at the address of this server.'
  if (domain !== '' && !isTaken) return 'Choose one or type a new name.'
  const start = isTaken
    ? 'This is the domain of the console. A service here runs in a sandbox'
    : 'Without a domain the service runs in a sandbox'
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

/** Asks only for names that are known: a new one cannot be the console's. */
function useIsConsoleDomain(domain: string, isKnown: boolean): boolean {
  const input = { params: { type: 'http' }, query: { domain } }
  const services = useAllRows(endpoints.listServices, input, { enabled: isKnown })
  return isKnown && services.some(({ system }) => system)
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
 * Whether Skip Domain Validation is shown: while `counts` says so of the domain's error, and while it is
 * ticked. It stays as long as the refused domain is in the field: leaving the field clears the error, and
 * the box must not vanish while the pointer moves to it.
 */
export function useSkipOffered<V extends FieldValues>(
  control: Control<V>,
  counts: (error: FieldError) => boolean,
): boolean {
  // Both forms that may bring a new domain call these two fields so.
  const [domainName, skipName] = ['domain', 'skipValidation'] as [Path<V>, Path<V>]
  const [domain, skips] = useWatch({ control, name: [domainName, skipName] })
  const { errors } = useFormState({ control, name: domainName })
  const error: FieldError | undefined = get(errors, domainName)
  const [refused, setRefused] = useState<unknown>()
  const isRefused = error !== undefined && counts(error)
  if (isRefused && refused !== domain) setRefused(domain)
  return isRefused || Boolean(skips) || (refused !== undefined && refused === domain)
}
