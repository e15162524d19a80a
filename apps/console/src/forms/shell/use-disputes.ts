import { useEffect, useEffectEvent, useState } from 'react'
import type { FieldPath, FieldValues, UseFormReturn } from 'react-hook-form'
import type { Disputes } from './disputes.ts'
import { mergeEdits } from './merge-edits.ts'

/** Lays what was typed over a newer record, and keeps of the fields that both changed what the other one made of them. */
export function useDisputes<In extends FieldValues, Out>(form: UseFormReturn<In, unknown, Out>) {
  const [disputed, setDisputed] = useState<ReadonlyMap<string, { value: unknown; words: string }>>(new Map())
  const [changed, setChanged] = useState<ReadonlyMap<string, string>>(new Map())
  const [first, setFirst] = useState<string>()
  const set = (name: string, value: unknown) =>
    // The value came from the field of this name.
    form.setValue(name as FieldPath<In>, value as never, {
      shouldDirty: true,
      shouldValidate: form.formState.isSubmitted,
    })
  const take = (name: string) => {
    const dispute = disputed.get(name)
    if (!dispute) return
    set(name, dispute.value)
    setDisputed(new Map([...disputed].filter(([other]) => other !== name)))
  }
  /** @returns whether both changed a field, each in another way */
  const merge = (before: In, now: In): boolean => {
    const { kept, taken, disputed: both } = mergeEdits(before, form.getValues(), now)
    form.reset(now)
    for (const { name, value } of kept) set(name, value)
    setDisputed(new Map(both.map(({ name, ...dispute }) => [name, dispute])))
    setChanged(new Map(taken.map(({ name, words }) => [name, words])))
    setFirst(both[0]?.name)
    return both.length > 0
  }
  const focus = useEffectEvent((name: string) => form.setFocus(name as FieldPath<In>))
  // The reset forgets the controls until they are drawn again.
  useEffect(() => {
    if (first !== undefined) focus(first)
  }, [first])
  const theirs = new Map([...disputed].map(([name, { words }]) => [name, words]))
  return { disputes: { theirs, changed, take } satisfies Disputes, merge }
}
