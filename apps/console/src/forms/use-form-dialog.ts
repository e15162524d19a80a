import { type SubmitEvent, useState } from 'react'
import {
  type DefaultValues,
  type FieldPath,
  type FieldValues,
  type UseFormReturn,
  useForm,
} from 'react-hook-form'
import type * as z from 'zod/mini'
import { ApiError, wordsForError } from '../api/api-error.ts'
import { useLeaveGuard } from '../hooks/use-leave-guard.ts'
import { confirmDiscard } from '../ui/Dialog.tsx'
import type { SubmitError } from '../ui/FormDialog.tsx'
import { schemaResolver } from './resolver.ts'

interface Declaration<In extends FieldValues, Out, Rec extends { updated_at: string }, Saved> {
  schema: z.ZodMiniType<Out, In>
  /** The record to edit; without one a new one is made. */
  record: Rec | undefined
  /** What the form holds at first. */
  valuesOf: (record: Rec | undefined) => In
  /** All three reject with ApiError; `create` and `update` get what the schema made of the form. */
  create: (values: Out) => Promise<Saved>
  update: (record: Rec, values: Out & { updated_at: string }) => Promise<Saved>
  fetch: (record: Rec) => Promise<Rec>
  onSaved: (saved: Saved) => void
}

/**
 * A form in a dialog: fields are checked when they are left and then while typing, all of them on submit.
 * `dialog` holds what `FormDialog` requires; `form` goes to the bound fields; `record` is the one that was
 * loaded into the form, also when the page has got a newer one meanwhile.
 */
export function useFormDialog<In extends FieldValues, Out, Rec extends { updated_at: string }, Saved>(
  declaration: Declaration<In, Out, Rec, Saved>,
) {
  const [record, setRecord] = useState(declaration.record)
  const [submitError, setSubmitError] = useState<SubmitError | null>(null)
  const form = useForm<In, unknown, Out>({
    mode: 'onTouched',
    resolver: schemaResolver(declaration.schema),
    // The type of the library makes every field optional and cannot be inferred from a generic.
    defaultValues: declaration.valuesOf(record) as DefaultValues<In>,
  })
  const reload = async (old: Rec) => {
    try {
      const fresh = await declaration.fetch(old)
      setRecord(fresh)
      form.reset(declaration.valuesOf(fresh))
      setSubmitError(null)
    } catch (error) {
      console.error('The record was not loaded again', error)
      setSubmitError(bannerOf(error))
    }
  }
  const send = (values: Out) =>
    record
      ? declaration.update(record, { ...values, updated_at: record.updated_at })
      : declaration.create(values)
  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    const element = event.currentTarget
    event.stopPropagation()
    const save = async (values: Out) => {
      setSubmitError(null)
      try {
        declaration.onSaved(await send(values))
      } catch (error) {
        console.error('The form was not saved', error)
        if (record && isStale(error)) setSubmitError({ ...STALE, reload: () => reload(record) })
        else setSubmitError(showFieldErrors(form, element, error))
      }
    }
    void form.handleSubmit(save, () => console.warn('Validation failed'))(event)
  }
  const { isSubmitting, isDirty } = form.formState
  useLeaveGuard(isDirty, confirmDiscard)
  return { form, record, dialog: { loading: isSubmitting, submitError, dirty: isDirty, onSubmit } }
}

const STALE = {
  message:
    'Somebody else has changed this meanwhile. Reload gets the newest values, which replace what you typed.',
  status: 409,
}

function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'stale'
}

function bannerOf(error: unknown): SubmitError {
  const { status, requestId } = error instanceof ApiError ? error : { status: 0, requestId: undefined }
  return { message: wordsForError(error), status, requestId }
}

/** Puts each error under its field; what no field on the screen shows comes back for the banner. */
function showFieldErrors<In extends FieldValues, Out>(
  form: UseFormReturn<In, unknown, Out>,
  element: HTMLElement,
  error: unknown,
): SubmitError | null {
  if (!(error instanceof ApiError)) return bannerOf(error)
  const isShown = (field: string) => element.querySelector(`[data-field="${CSS.escape(field)}"]`) !== null
  const shown = error.errors.filter(({ field }) => isShown(field))
  shown.forEach(({ field, message }, index) => {
    // The server's dotted paths are those of the form, which was sent as it is.
    form.setError(field as FieldPath<In>, { type: 'server', message }, { shouldFocus: index === 0 })
  })
  const others = error.errors.filter(({ field }) => !isShown(field))
  if (others.length === 0 && shown.length > 0) return null
  if (others.length === 0) return bannerOf(error)
  return { ...bannerOf(error), message: others.map((each) => `${each.field}: ${each.message}`).join(' ') }
}
