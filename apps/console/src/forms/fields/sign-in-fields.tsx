import type { DomainFormInput } from '@postern/contract/domains'
import { MESSAGES } from '@postern/contract/messages'
import type { HttpServiceFormInput } from '@postern/contract/services/services'
import { type Control, type UseFormReturn, useWatch } from 'react-hook-form'
import { useConfig } from '../../api/queries.ts'
import { Field } from '../../ui/input/Field.tsx'
import { TextArea } from '../../ui/input/TextInput.tsx'
import { confirm } from '../../ui/overlay/confirm.ts'
import { FormSection } from '../../ui/overlay/FormDialog.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import { CheckboxField, TextListField } from './bound-fields.tsx'
import { useDomainsLike } from './domain-fields.tsx'
import { useBoundField } from './TextField.tsx'

interface DomainProps<Out> {
  form: UseFormReturn<DomainFormInput, unknown, Out>
  /** Sign-in was on before this edit, so that it can stay on even if no provider is set up any more. */
  wasOn: boolean
}

/** Sign-in at a domain, and who may use its services that require it. */
export function DomainSignInFields<Out>({ form, wasOn }: DomainProps<Out>) {
  const { control, setValue } = form
  const isOn = useWatch({ control, name: 'authentication' })
  const config = useConfig().data
  const hasNone = config?.signIn === null
  const list = (emails: string[]) =>
    setValue('allowedEmails', emails, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  return (
    <>
      <CheckboxField
        control={control}
        name="authentication"
        label="Enable OAuth2 Authentication"
        text={hasNone ? <NoProvider /> : <WithProvider />}
        disabled={hasNone && !wasOn}
        onCheckedChange={(checked) => list(checked ? [''] : [])}
      />
      {isOn && (
        <div className="field in">
          <TextListField
            control={control}
            name="allowedEmails"
            label="Allowed Emails"
            itemLabel="Allowed Email"
            addText="Add Email"
            placeholder="ann@example.com"
            takesMany
            mayRemove={(emails) => confirmLast(emails)}
            hint={`If the list is empty, nobody can sign in. The provider's redirect address is ${config?.signIn?.redirectUrl ?? 'not known'}.`}
          />
        </div>
      )}
    </>
  )
}

function WithProvider() {
  return (
    <>
      Services of this domain can ask their visitors to sign in.{' '}
      <a href={urls.testSignIn()} target="_blank" rel="noreferrer">
        Test Sign-in
      </a>
    </>
  )
}

function NoProvider() {
  return (
    <>
      No provider is set up yet.{' '}
      <a href={serverUrls.signIn()} target="_blank" rel="noreferrer">
        How to set one up
      </a>
    </>
  )
}

/** Removing the last one locks everybody out. */
async function confirmLast(emails: readonly string[]): Promise<boolean> {
  if (emails.length > 1 || !emails[0]?.trim()) return true
  return await confirm({
    title: 'Remove the last e-mail',
    description: `Without ${emails[0]} the list is empty. Once you save, nobody can sign in to services of this domain.`,
    variant: 'danger',
    acceptButtonText: 'Yes, remove it!',
  })
}

interface ServiceProps<Out> {
  form: UseFormReturn<HttpServiceFormInput, unknown, Out>
  isConsole: boolean
}

/** Whether visitors of a service sign in, and the paths without sign-in. */
export function ServiceSignInFields<Out>({ form, isConsole }: ServiceProps<Out>) {
  const { control } = form
  const [domain, requires, port] = useWatch({ control, name: ['domain', 'requireAuth', 'backendPort'] })
  const name = domain?.trim().toLowerCase() ?? ''
  const hasSignIn = useHasSignIn(domain ?? '')
  const text = isConsole
    ? `Everyone who opens the console signs in with OAuth2 first; the allowed e-mail addresses of ${name} apply. Agents connect as before, and on the server 127.0.0.1:${port} stays open.`
    : `Visitors sign in with OAuth2; the allowed e-mail addresses of ${name} apply.`
  return (
    <FormSection legend="Sign-in">
      <div className="fields">
        <CheckboxField
          control={control}
          name="requireAuth"
          label="Require Authentication"
          text={hasSignIn !== false ? text : MESSAGES.noAuthentication}
          // A ticked box can always be unticked; if it does not fit the domain, the server says so.
          disabled={hasSignIn === false && !requires}
        />
        {requires && !isConsole && <BypassField control={control} />}
      </div>
    </FormSection>
  )
}

function BypassField<Out>({ control }: { control: Control<HttpServiceFormInput, unknown, Out> }) {
  const { field, note } = useBoundField({ control, name: 'skipAuthRoutes' })
  return (
    <div className="field in">
      <Field label="Paths to bypass authentication" {...note} hint={<BypassHint />}>
        {(ids) => <TextArea {...ids} {...field} value={field.value ?? ''} rows={3} placeholder="/healthz" />}
      </Field>
    </div>
  )
}

function BypassHint() {
  return (
    <>
      One path per line. A leading <code>^</code> makes it a{' '}
      <a href={serverUrls.signIn()} target="_blank" rel="noreferrer">
        regular expression
      </a>
      . Every alternative must match from the start of the path.
    </>
  )
}

/** Undefined while it is unknown, or when too many names match for the server's answer to include it. */
function useHasSignIn(domain: string): boolean | undefined {
  const typed = domain.trim()
  const { found, isWhole } = useDomainsLike(typed)
  if (typed === '') return false
  const exact = found.find((each) => each.domain === typed.toLowerCase())
  return exact?.authentication ?? (isWhole ? false : undefined)
}
