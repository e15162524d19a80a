import { consoleSignIn as endpoints } from '@postern/contract/endpoints/console-sign-in'
import {
  ConsoleProviderForm,
  type ConsoleProviderFormInput,
} from '@postern/contract/sign-in/console-providers'
import type { FieldPath, UseFormReturn } from 'react-hook-form'
import { ApiError } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'
import { useTrial } from '../../components/trial/use-trial.ts'

type Form = UseFormReturn<ConsoleProviderFormInput, unknown, ConsoleProviderForm>

const TRIED = ['name', 'issuer', 'clientId', 'clientSecret'] as const

/** Signs the operator in at the provider of the form, as it is typed now. @param id whose stored secret is meant */
export function useProviderTrial(form: Form, id: number | undefined) {
  const api = useApi()
  const trial = useTrial(async () => {
    try {
      return await api.call(endpoints.tryConsoleProvider, { body: { id: id ?? null, form: triedOf(form) } })
    } catch (error) {
      showFields(form, error)
      throw error
    }
  })
  const { begin, open } = trial
  const run = async () => {
    // A tab may be opened only right after the click, so nothing is waited for if it is needed.
    if (ConsoleProviderForm.safeParse(triedOf(form)).success) open()
    else await form.trigger([...TRIED], { shouldFocus: true })
  }
  // The session's last trial may have been another one.
  const isOwn = begin.isSuccess
  return { ...trial, run, data: isOwn ? trial.data : undefined, at: isOwn ? begin.submittedAt : null }
}

/** Rules have no part in it: people see the claims before they write them. */
function triedOf(form: Form): ConsoleProviderFormInput {
  return { ...form.getValues(), makesAccounts: false, rules: [] }
}

function showFields(form: Form, error: unknown): void {
  if (!(error instanceof ApiError)) return
  for (const { field, message } of error.errors) {
    // The server's paths are those of the form, below `form`.
    const name = field.replace(/^form\./, '') as FieldPath<ConsoleProviderFormInput>
    form.setError(name, { type: 'server', message })
  }
}
