import { useState } from 'react'
import type { FieldPath, FieldValues } from 'react-hook-form'
import type * as z from 'zod/mini'
import { ApiError, failureOf } from '../api/api-error.ts'
import { useLeaveGuard } from '../components/use-leave-guard.ts'
import { confirmDiscard } from '../ui/Dialog.tsx'
import { mergeEdits } from './merge-edits.ts'
import { type DraftOf, useFormShell } from './use-form-shell.ts'

export interface FormDeclaration<In extends FieldValues, Out, Rec extends { updated_at: string }, Saved> {
  schema: z.ZodMiniType<Out, In>
  /** The record to edit; without one a new one is made. */
  record: Rec | undefined
  /** What the form holds at first. */
  valuesOf: (record: Rec | undefined) => In
  /** All three reject with ApiError; `create` and `update` get what the schema made of the form. */
  create: (values: Out) => Promise<Saved>
  update: (record: Rec, values: Out & { updated_at: string }) => Promise<Saved>
  fetch: (record: Rec) => Promise<Rec>
  draft: DraftOf
  onSaved: (saved: Saved) => void
}

/**
 * The form of a record in a dialog. `dialog` holds what `FormDialog` requires; `form` goes to the bound fields;
 * `record` is the one that the form was filled from, even when the page has a newer one.
 */
export function useFormDialog<In extends FieldValues, Out, Rec extends { updated_at: string }, Saved>(
  declaration: FormDeclaration<In, Out, Rec, Saved>,
) {
  const [record, setRecord] = useState(declaration.record)
  const { form, shell, setSubmitError } = useFormShell({
    schema: declaration.schema,
    values: declaration.valuesOf(record),
    failure: 'The form was not saved',
    draft: declaration.draft,
    async send(values) {
      const saved = record
        ? declaration.update(record, { ...values, updated_at: record.updated_at })
        : declaration.create(values)
      declaration.onSaved(await saved)
    },
    describe: (error) => (record && isStale(error) ? { ...STALE, reload: () => reload(record) } : undefined),
  })
  const reload = async (old: Rec) => {
    try {
      const fresh = await declaration.fetch(old)
      const [before, now] = [declaration.valuesOf(old), declaration.valuesOf(fresh)]
      const { kept, marks } = mergeEdits(before, form.getValues(), now)
      setRecord(fresh)
      form.reset(now)
      // What is kept under a field's name came from that field.
      for (const { name, value } of kept)
        form.setValue(name as FieldPath<In>, value as never, { shouldDirty: true })
      for (const { name, message } of marks) form.setError(name as FieldPath<In>, { type: 'stale', message })
      setSubmitError(null)
    } catch (error) {
      console.error('The record was not loaded again', error)
      setSubmitError(failureOf(error))
    }
  }
  useLeaveGuard(shell.dirty, confirmDiscard)
  return { form, record, dialog: shell }
}

const STALE = {
  message:
    'Someone else changed this while you were editing. Reload to get the latest version: what you typed stays, and is marked where it differs.',
  status: 409,
}

function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'stale'
}
