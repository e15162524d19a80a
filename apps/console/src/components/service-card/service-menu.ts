import type { HttpService } from '@postern/contract/services'
import { ArrowRight, Info, Pencil, Power, ScrollText, Trash2 } from 'lucide-react'
import type { MenuItem } from '../../ui/Menu.tsx'

export interface ServiceVerbs {
  info: () => void
  logs: () => void
  /** In the context of its node a service can be edited; elsewhere one goes there. */
  edit?: () => void
  goToNode?: () => void
  enable: () => void
  disable: () => void
  remove: () => void
}

/** What can be done with a service; the console's own can be neither disabled nor deleted. */
export function serviceMenu({ enabled, system }: HttpService, verbs: ServiceVerbs): MenuItem[][] {
  const look = [
    { text: 'Info', icon: Info, onSelect: verbs.info },
    { text: 'Logs Monitor', icon: ScrollText, onSelect: verbs.logs },
  ]
  const change = [
    ...(verbs.edit ? [{ text: 'Edit Service', icon: Pencil, onSelect: verbs.edit }] : []),
    ...(verbs.goToNode ? [{ text: 'Go to node', icon: ArrowRight, onSelect: verbs.goToNode }] : []),
  ]
  if (system) return [look, change]
  const access = enabled
    ? { text: 'Disable Access', icon: Power, onSelect: verbs.disable }
    : { text: 'Enable Access', icon: Power, onSelect: verbs.enable }
  return [
    look,
    change,
    [access, { text: 'Delete Service', icon: Trash2, danger: true, onSelect: verbs.remove }],
  ]
}
