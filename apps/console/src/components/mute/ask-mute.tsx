import type { MuteForm } from '@postern/contract/alerts/mute'
import { BellOff } from 'lucide-react'
import { useState } from 'react'
import { Select } from '../../ui/input/Select.tsx'
import { ask } from '../ask.ts'
import './ask-mute.css'

export interface MuteCalls {
  /** Only `until` in its form as it goes over the wire. */
  mute: (form: { until: MuteForm['until'] }) => Promise<unknown>
  unmute: () => Promise<unknown>
  refresh: () => Promise<unknown>
}

const HOUR = 3_600_000
const TIMES = [
  { value: String(HOUR), text: 'For 1 hour' },
  { value: String(8 * HOUR), text: 'For 8 hours' },
  { value: String(24 * HOUR), text: 'For 1 day' },
  { value: String(7 * 24 * HOUR), text: 'For 7 days' },
  { value: '', text: 'Until I unmute it' },
]
const USUAL = String(8 * HOUR)

/** @returns whether it was muted */
export function askMute(name: string, { mute, refresh }: MuteCalls): Promise<boolean> {
  let chosen = USUAL
  const note = (value: string) => {
    chosen = value
  }
  return ask({
    question: {
      title: 'Mute alerts',
      description: <HowLong name={name} onChoose={note} />,
      icon: BellOff,
      acceptButtonText: 'Mute',
    },
    act: () => mute({ until: chosen === '' ? null : new Date(Date.now() + Number(chosen)).toISOString() }),
    done: 'Alerts are muted.',
    subject: name,
    refresh,
  })
}

function HowLong({ name, onChoose }: { name: string; onChoose: (value: string) => void }) {
  const [value, setValue] = useState(USUAL)
  const change = (next: string) => {
    setValue(next)
    onChoose(next)
  }
  return (
    <span className="how-long">
      <span>
        Nobody is told when <b>{name}</b> stops answering, and it is no alert.
      </span>
      <Select aria-label="How long" options={TIMES} value={value} onValueChange={change} />
    </span>
  )
}
