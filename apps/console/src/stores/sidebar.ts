import { usePreference } from './preference.ts'

/** Whether the sidebar shows words beside its icons. */
export function useSidebarExpanded(): [boolean, (expanded: boolean) => void] {
  const [text, setText] = usePreference('sidebar-expanded', 'true')
  return [text !== 'false', (expanded) => setText(String(expanded))]
}
