import { endpoints } from '@postern/contract/endpoints'
import { useQuery } from '@tanstack/react-query'
import { Globe } from 'lucide-react'
import type { Control } from 'react-hook-form'
import { useApi } from '../api/context.ts'
import { keyOf } from '../api/queries.ts'
import { Autocomplete } from '../ui/Autocomplete.tsx'
import { Field } from '../ui/Field.tsx'
import { serverUrls } from '../util/urls.ts'
import type { ServiceValues } from './service-values.ts'
import { useBoundField } from './TextField.tsx'

const LABEL = 'Public Domain'

interface FieldProps {
  control: Control<ServiceValues>
  /** True for the console itself, which nothing breaks. */
  isConsole: boolean
}

/** The domain of a service: one that is there, or a new name. */
export function PublicDomainField({ control, isConsole }: FieldProps) {
  const domains = useDomainNames()
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

/** The names of all domains, for the proposals. */
function useDomainNames(): string[] {
  const api = useApi()
  const { data } = useQuery({
    queryKey: keyOf(endpoints.listDomains, {}),
    queryFn: ({ signal }) => api.listAll(endpoints.listDomains, { signal }),
  })
  return data?.map(({ domain }) => domain) ?? []
}

interface Props {
  domain: string
  /** The names of all domains. */
  domains: readonly string[]
  isConsole: boolean
}

/** Below the domain: what a service loses that shares the host of the console. */
function DomainHint({ domain, domains, isConsole }: Props) {
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
  const api = useApi()
  const input = { params: { type: 'http' }, query: { domain } }
  const { data } = useQuery({
    queryKey: keyOf(endpoints.listServices, input),
    queryFn: ({ signal }) => api.listPage(endpoints.listServices, { ...input, signal }),
    enabled: isKnown,
  })
  return isKnown && (data?.data.some(({ system }) => system) ?? false)
}
