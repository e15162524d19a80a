import './styles/index.css'

import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { createApi } from './api/client.ts'
import { Console } from './api/context.ts'
import { routesFor } from './routes.tsx'
import { createSession } from './stores/session.ts'
import { Toasts, toast } from './ui/Toasts.tsx'
import { urls } from './util/urls.ts'

const session = createSession({
  cookies: document,
  storage: localStorage,
  location,
  now: Date.now,
  makeKey,
})
const api = createApi({
  fetch: (...args) => fetch(...args),
  token: session.token,
  key: session.key,
  now: Date.now,
  onRefused: session.end,
  onBadRequest: toast.error,
})
const router = createBrowserRouter(routesFor(session))

session.onEnd(() => {
  router.navigate(urls.login()).catch((error: unknown) => {
    console.error('The sign-in page could not be opened', error)
    location.assign(urls.login())
  })
})

const root = document.querySelector('#root')
if (!root) throw new Error('The page has no #root')
createRoot(root).render(
  <StrictMode>
    <Console value={{ api, session }}>
      <RouterProvider router={router} />
      <Toasts />
    </Console>
  </StrictMode>,
)

/** 32 random bytes as hexadecimal digits. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
