import type { Mute } from '@postern/contract/alerts/mute'
import { Bell, BellOff } from 'lucide-react'
import { toast } from '../../ui/feedback/Toasts.tsx'
import type { MenuItem } from '../../ui/overlay/OpenMenu.tsx'
import { attempt } from '../ask.ts'
import type { MuteCalls } from './ask-mute.tsx'

interface Muteable {
  name: string
  mute: Mute
}

/** The item of the menu of a node or service. */
export function muteItem({ mute }: Muteable, onSelect: () => void): MenuItem {
  return mute === null
    ? { text: 'Mute Alerts', icon: BellOff, onSelect }
    : { text: 'Unmute Alerts', icon: Bell, onSelect }
}

/** Asks for how long. @returns whether it was done */
export async function muteOrUnmute({ name, mute }: Muteable, calls: MuteCalls): Promise<boolean> {
  if (mute === null) return await (await import('./ask-mute.tsx')).askMute(name, calls)
  const isDone = await attempt(calls.unmute)
  if (isDone) toast.success('Alerts are on again.', name)
  await calls.refresh()
  return isDone
}
