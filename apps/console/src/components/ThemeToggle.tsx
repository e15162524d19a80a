import { Monitor, Moon, Sun } from 'lucide-react'
import { nextScheme, useScheme } from '../stores/preference.ts'
import { IconButton } from '../ui/Button.tsx'

const LOOKS = {
  auto: { icon: Monitor, words: 'follow the system' },
  light: { icon: Sun, words: 'light' },
  dark: { icon: Moon, words: 'dark' },
} as const

/** Goes through system, light and dark. */
export function ThemeToggle() {
  const [scheme, setScheme] = useScheme()
  const { icon, words } = LOOKS[scheme]
  return (
    <IconButton label={`Colour scheme: ${words}`} icon={icon} onClick={() => setScheme(nextScheme(scheme))} />
  )
}
