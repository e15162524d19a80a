import { useState } from 'react'
import type { Opened } from '../../components/palette/PaletteLayer.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'

export const loadPalette = () => import('../../components/palette/PaletteLayer.tsx')

interface Props {
  opened: Opened
  onOpen: (what: Opened) => void
}

/** The palette and the list of keys, loaded when first wanted. */
export function PaletteHost({ opened, onOpen }: Props) {
  const [wasOpened, setWasOpened] = useState(false)
  if (opened && !wasOpened) setWasOpened(true)
  const loaded = useLoaded(loadPalette, wasOpened, () => {
    setWasOpened(false)
    onOpen(null)
  })
  return loaded && <loaded.PaletteLayer opened={opened} onOpen={onOpen} />
}
