import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { Console, type ConsoleContext } from './api/context.ts'
import { routesFor } from './routes.tsx'
import { Toasts } from './ui/feedback/Toasts.tsx'
import { urls } from './util/urls.ts'

/** Everything behind the sign-in page. */
export function mount(root: HTMLElement, context: ConsoleContext): void {
  const { session } = context
  const signIn = () => location.replace(urls.login())
  session.onEnd(signIn)
  // Back may bring a page as it was, with what its session had loaded.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && session.token() === null) signIn()
  })
  const router = createBrowserRouter(routesFor(session))
  createRoot(root).render(
    <StrictMode>
      <Console value={context}>
        <RouterProvider router={router} />
        <Toasts />
      </Console>
    </StrictMode>,
  )
}
