import { toFieldErrors } from '@postern/contract/errors'
import { type SubmitEvent, useEffect, useEffectEvent, useState } from 'react'
import {
  type DefaultValues,
  type FieldError,
  type FieldErrors,
  type FieldPath,
  type FieldValues,
  type Resolver,
  set,
  type UseFormReturn,
  useForm,
} from 'react-hook-form'
import type * as z from 'zod/mini'
import { ApiError, failureOf, isTold } from '../../api/api-error.ts'
import { useSession } from '../../api/context.ts'
import { type DraftForm, type DraftValues, keepDraft } from '../../stores/draft.ts'
import type { SubmitError } from '../../ui/overlay/FormDialog.tsx'

interface Declaration<In extends FieldValues, Out> {
  schema: z.ZodMiniType<Out, In>
  /** The form's initial values. */
  values: In
  /** When a field is first checked; by default `onTouched`, when it is left. */
  checks?: 'onTouched' | 'onChange'
  /** Gets the parsed form; rejects with ApiError. */
  send: (values: Out) => Promise<void>
  /** The message in the browser's console when `send` failed. */
  failure: string
  /** The draft that is restored after the next sign-in when the session ends meanwhile. */
  draft?: DraftOf
  /** The banner's text then; undefined: the fields' errors or the server's message. */
  describe?: (error: unknown) => SubmitError | undefined | Promise<SubmitError | undefined>
}

export interface DraftOf {
  of: DraftForm
  /** What was typed before. */
  values: DraftValues | undefined
}

/**
 * The behaviour of every form: fields are checked when they are left after typing and from then on while typing, all
 * of them on submit; the server's errors go under their fields, and those without a visible field to the banner.
 */
export function useFormShell<In extends FieldValues, Out>(declaration: Declaration<In, Out>) {
  const [submitError, setSubmitError] = useState<SubmitError | null>(null)
  const form = useForm<In, unknown, Out>({
    mode: declaration.checks ?? 'onTouched',
    resolver: schemaResolver(declaration.schema),
    // The type of the library makes every field optional and cannot be inferred from a generic.
    defaultValues: declaration.values as DefaultValues<In>,
  })
  const save = async (values: Out) => {
    setSubmitError(null)
    try {
      await declaration.send(values)
    } catch (error) {
      console.error(declaration.failure, error)
      setSubmitError((await declaration.describe?.(error)) ?? showErrors(form, error))
    }
  }
  const onSubmit = (event: SubmitEvent<HTMLFormElement>) => {
    event.stopPropagation()
    void form.handleSubmit(save, () => console.warn('Validation failed'))(event)
  }
  const { isSubmitting, isDirty } = form.formState
  useDraft(form, declaration)
  return { form, setSubmitError, shell: { loading: isSubmitting, submitError, dirty: isDirty, onSubmit } }
}

/** Restores what was typed before the session ended, and saves what is typed when it ends. */
function useDraft<In extends FieldValues, Out>(
  form: UseFormReturn<In, unknown, Out>,
  { draft, values }: Pick<Declaration<In, Out>, 'draft' | 'values'>,
): void {
  const session = useSession()
  const fill = useEffectEvent(() => {
    const typed = draft?.values ?? {}
    const fields = Object.keys(values).filter((name) => name in typed)
    // A value stored under a field's name came from that field.
    for (const name of fields as FieldPath<In>[])
      form.setValue(name, typed[name] as never, { shouldDirty: true })
  })
  const keep = useEffectEvent((isWanted: boolean) => {
    if (draft && form.formState.isDirty && !isWanted) keepDraft({ ...draft.of, values: form.getValues() })
  })
  useEffect(() => {
    fill()
    return session.onEnd((isWanted) => keep(isWanted))
  }, [session])
}

/** Puts each error under its field; returns those that no field shows, for the banner. */
function showErrors<In extends FieldValues, Out>(
  form: UseFormReturn<In, unknown, Out>,
  error: unknown,
): SubmitError | null {
  if (isTold(error)) return null
  if (!(error instanceof ApiError) || error.errors.length === 0) return failureOf(error)
  // The server's dotted paths are those of the form, which was sent as it is.
  const errors = error.errors.map(({ field, message }) => ({ field: field as FieldPath<In>, message }))
  for (const { field, message } of errors) form.setError(field, { type: 'server', message })
  // Only the error of a field on the screen has a reference to its control.
  const isShown = ({ field }: { field: FieldPath<In> }) => form.getFieldState(field).error?.ref !== undefined
  const first = errors.find(isShown)
  if (first) form.setFocus(first.field)
  const others = errors.filter((each) => !isShown(each))
  if (others.length === 0) return null
  form.clearErrors(others.map(({ field }) => field))
  return {
    ...failureOf(error),
    message: others.map(({ field, message }) => `${field}: ${message}`).join(' '),
  }
}

/**
 * Checks a form with the contract's schema, so that the console and the server show the same errors. An empty number
 * is null in a form and absent for the schema, whose default then counts.
 */
export function schemaResolver<In extends FieldValues, Out>(
  schema: z.ZodMiniType<Out, In>,
): Resolver<In, unknown, Out> {
  return (values) => {
    const result = schema.safeParse(withoutNulls(values))
    if (result.success) return { values: result.data, errors: {} }
    const errors: FieldErrors<In> = {}
    for (const { field, message } of toFieldErrors(result.error.issues)) {
      const error: FieldError = { type: 'contract', message }
      set(errors, field, error)
    }
    return { values: {}, errors }
  }
}

function withoutNulls(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
}
