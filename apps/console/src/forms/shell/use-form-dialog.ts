import { useState } from 'react'
import type { FieldValues } from 'react-hook-form'
import type * as z from 'zod/mini'
import { ApiError, failureOf } from '../../api/api-error.ts'
import { useLeaveGuard } from '../../components/use-leave-guard.ts'
import { confirmDiscard } from '../../ui/overlay/Dialog.tsx'
import type { SubmitError } from '../../ui/overlay/FormDialog.tsx'
import { useConflicts } from './use-conflicts.ts'
import { type DraftOf, useFormShell } from './use-form-shell.ts'

export interface FormDeclaration<In extends FieldValues, Out, Rec extends { updated_at: string }, Saved> {
  schema: z.ZodMiniType<Out, In>
  /** The record to edit; without one a new one is made. */
  record: Rec | undefined
  /** The form's initial values. */
  valuesOf: (record: Rec | undefined) => In
  /** All three reject with ApiError; `create` and `update` get the parsed form. */
  create: (values: Out) => Promise<Saved>
  update: (record: Rec, values: Out & { updated_at: string }) => Promise<Saved>
  fetch: (record: Rec) => Promise<Rec>
  /** Asks before an update that has effects elsewhere; false leaves the form as it is. */
  mayUpdate?: (record: Rec, values: Out) => Promise<boolean>
  /** Absent for a form with secrets, which are not kept in the browser. */
  draft?: DraftOf
  onSaved: (saved: Saved) => void
}

/**
 * The form of a record in a dialog. `dialog` has the props of `FormDialog`; `form` goes to the bound fields; `record`
 * is the one from which the form was filled, even when the page has a newer one.
 */
export function useFormDialog<In extends FieldValues, Out, Rec extends { updated_at: string }, Saved>(
  declaration: FormDeclaration<In, Out, Rec, Saved>,
) {
  const [record, setRecord] = useState(declaration.record)
  const { form, shell } = useFormShell({
    schema: declaration.schema,
    values: declaration.valuesOf(record),
    failure: 'The form was not saved',
    ...(declaration.draft && { draft: declaration.draft }),
    async send(values) {
      if (record && !((await declaration.mayUpdate?.(record, values)) ?? true)) return
      const saved = record
        ? declaration.update(record, { ...values, updated_at: record.updated_at })
        : declaration.create(values)
      declaration.onSaved(await saved)
    },
    describe: async (error) => (record && isStale(error) ? mergeNewest(record, error) : undefined),
  })
  const { conflicts, merge } = useConflicts(form)
  const mergeNewest = async (old: Rec, { message }: ApiError): Promise<SubmitError> => {
    try {
      const fresh = await declaration.fetch(old)
      setRecord(fresh)
      const isConflicting = merge(declaration.valuesOf(old), declaration.valuesOf(fresh))
      return { kind: 'stale', message: `${message}. ${isConflicting ? CHOOSE : MERGED}`, status: 409 }
    } catch (error) {
      console.error('The record was not loaded again', error)
      return failureOf(error)
    }
  }
  useLeaveGuard(shell.dirty, confirmDiscard)
  return { form, record, dialog: { ...shell, conflicts } }
}

const CHOOSE =
  'Your edits are still here. Fields that you both changed are marked: choose a value, then save again.'
const MERGED = 'Your edits are kept alongside theirs. Review and save again.'

function isStale(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'stale'
}
