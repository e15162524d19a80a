import { ChannelForm, type ChannelFormInput } from '@postern/contract/alerts/channels'
import { alerts as endpoints } from '@postern/contract/endpoints/alerts'
import { useState } from 'react'
import type { FieldPath, UseFormReturn } from 'react-hook-form'
import { ApiError, errorMessage } from '../../api/api-error.ts'
import { useApi } from '../../api/context.ts'

interface Outcome {
  /** Null: it was sent. */
  problem: string | null
}

/** Sends a real message with what is typed now. @param id of the channel whose stored secrets are meant */
export function useChannelTest<Out>(
  form: UseFormReturn<ChannelFormInput, unknown, Out>,
  id: number | undefined,
) {
  const api = useApi()
  const [outcome, setOutcome] = useState<Outcome>()
  const [isBusy, setBusy] = useState(false)
  const send = async () => {
    if (!(await form.trigger())) return
    const typed = Object.entries(form.getValues()).filter(([, value]) => value !== null)
    const channel = ChannelForm.parse(Object.fromEntries(typed))
    try {
      setOutcome(await api.call(endpoints.testChannel, { body: { id: id ?? null, channel } }))
    } catch (error) {
      setOutcome({ problem: showFields(form, error) ? 'Nothing was sent. See above.' : errorMessage(error) })
    }
  }
  const run = async () => {
    setOutcome(undefined)
    setBusy(true)
    await send()
    setBusy(false)
  }
  return { outcome, isBusy, run }
}

/** @returns whether the error is about fields, which now show it */
function showFields<Out>(form: UseFormReturn<ChannelFormInput, unknown, Out>, error: unknown): boolean {
  if (!(error instanceof ApiError) || error.errors.length === 0) return false
  for (const { field, message } of error.errors) {
    // The server's paths are those of the form, below `channel`.
    const name = field.replace(/^channel\./, '') as FieldPath<ChannelFormInput>
    form.setError(name, { type: 'server', message })
  }
  return true
}
