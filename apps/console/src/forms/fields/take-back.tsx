import { type ReactNode, useState } from 'react'
import { Checkbox } from '../../ui/input/Checkbox.tsx'

/** What a form passes to the call that saves it. */
export interface TakeBack {
  takeBack?: true
}

/** The words of the box, also in questions. */
export const TAKE_BACK_WORDS = {
  label: 'Take Back in 2 Minutes Unless I Confirm',
  text: 'A bar asks you to keep the change. If you cannot get there any more, it is taken back by itself.',
} as const

/**
 * Offers, for a change that may lock its author out, that it is taken back.
 * @param isOn whether it is ticked at first
 */
export function useTakeBack(isOffered: boolean, isOn = true): { input: TakeBack; field: ReactNode } {
  const [isChosen, setChosen] = useState(isOn)
  return {
    input: isOffered && isChosen ? { takeBack: true } : {},
    field: isOffered && <Checkbox {...TAKE_BACK_WORDS} checked={isChosen} onCheckedChange={setChosen} />,
  }
}
