import { useEffect, useEffectEvent, useState } from 'react'
import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form'
import type { Conflicts } from './conflicts.ts'
import { mergeEdits } from './merge-edits.ts'

/** Lays typed values over a newer record, and remembers the other person's values of fields that both changed. */
export function useConflicts<In extends FieldValues, Out>(form: UseFormReturn<In, unknown, Out>) {
  const [conflicting, setConflicting] = useState<ReadonlyMap<string, { value: unknown; words: string }>>(
    new Map(),
  )
  const [changed, setChanged] = useState<ReadonlyMap<string, string>>(new Map())
  const [first, setFirst] = useState<string>()
  const set = (name: string, value: unknown) =>
    // The value came from the field of this name.
    form.setValue(name as FieldPath<In>, value as never, {
      shouldDirty: true,
      shouldValidate: form.formState.isSubmitted,
    })
  const take = (name: string) => {
    const conflict = conflicting.get(name)
    if (!conflict) return
    set(name, conflict.value)
    setConflicting(new Map([...conflicting].filter(([other]) => other !== name)))
  }
  /** @returns whether both changed a field differently */
  const merge = (before: In, now: In): boolean => {
    const { kept, taken, conflicting: both } = mergeEdits(before, form.getValues(), now)
    form.reset(now)
    for (const { name, value } of kept) set(name, value)
    setConflicting(new Map(both.map(({ name, ...conflict }) => [name, conflict])))
    setChanged(new Map(taken.map(({ name, words }) => [name, words])))
    setFirst(both[0]?.name)
    return both.length > 0
  }
  const focus = useEffectEvent((name: string) => form.setFocus(name as FieldPath<In>))
  // The reset unregisters the controls until they are rendered again.
  useEffect(() => {
    if (first !== undefined) focus(first)
  }, [first])
  const theirs = new Map([...conflicting].map(([name, { words }]) => [name, words]))
  return { conflicts: { theirs, changed, take } satisfies Conflicts, merge }
}
