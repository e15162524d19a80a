import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter, matchRoutes, useRoutes } from 'react-router'
import { Console, type ConsoleContext } from './api/context.ts'
import { type PageRoute, routes } from './routes.tsx'
import { guardBack } from './stores/back.ts'
import { keepTicket } from './stores/brought-ticket.ts'
import { Toasts } from './ui/feedback/Toasts.tsx'
import { urls } from './util/urls.ts'

/** Everything behind the sign-in page. */
export async function mount(root: HTMLElement, context: ConsoleContext): Promise<void> {
  const { session } = context
  keepTicket()
  const signIn = () => location.replace(urls.login())
  session.onEnd(signIn)
  // Back may restore a page with data that its session had loaded.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session.token() === null) signIn()
  })
  guardBack()
  // So that the first page shows at once.
  if (session.token() !== null)
    await matchRoutes<PageRoute>(routes, location.pathname)?.at(-1)?.route.handle?.()
  createRoot(root).render(
    <StrictMode>
      <Console value={context}>
        <BrowserRouter>
          <Pages />
        </BrowserRouter>
        <Toasts />
      </Console>
    </StrictMode>,
  )
}

/** Nothing but the address says which page is shown: no page has the router load its data. */
const Pages = () => useRoutes(routes)
