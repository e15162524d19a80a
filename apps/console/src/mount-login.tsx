import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Console, type ConsoleContext } from './api/context.ts'
import { LoginPage } from './pages/login/LoginPage.tsx'
import { keepTicket } from './stores/brought-ticket.ts'
import { Toasts } from './ui/feedback/Toasts.tsx'
import { urls } from './util/urls.ts'

/** The sign-in page, unless the person is signed in. */
export function mount(root: HTMLElement, context: ConsoleContext): void {
  const { session } = context
  keepTicket()
  if (session.token() !== null) {
    location.replace(urls.home())
    return
  }
  createRoot(root).render(
    <StrictMode>
      <Console value={context}>
        <LoginPage />
        <Toasts />
      </Console>
    </StrictMode>,
  )
}
