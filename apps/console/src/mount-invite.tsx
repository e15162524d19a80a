import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Console, type ConsoleContext } from './api/context.ts'
import { InvitePage } from './pages/invite/InvitePage.tsx'
import { Toasts } from './ui/feedback/Toasts.tsx'

/** The page of a link for a person, whether or not somebody is signed in here. */
export function mount(root: HTMLElement, context: ConsoleContext): void {
  // Another link, opened in the same tab, loads nothing by itself.
  addEventListener('hashchange', () => location.reload())
  createRoot(root).render(
    <StrictMode>
      <Console value={context}>
        <InvitePage token={location.hash.slice(1)} />
        <Toasts />
      </Console>
    </StrictMode>,
  )
}
