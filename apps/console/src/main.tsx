import './styles/index.css'

import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { createApi } from './api/client.ts'
import { Console } from './api/context.ts'
import { routesFor } from './routes.tsx'
import { createSession } from './stores/session.ts'
import { ConfirmHost } from './ui/ConfirmHost.tsx'
import { ToastHost } from './ui/ToastHost.tsx'
import { toast } from './ui/toast.ts'
import { randomText } from './util/random.ts'
import { urls } from './util/urls.ts'

const session = createSession({
  cookies: document,
  storage: localStorage,
  location,
  now: Date.now,
  makeKey: () => randomText(32),
})
const api = createApi({
  fetch: (...args) => fetch(...args),
  token: session.token,
  key: session.key,
  now: Date.now,
  onRefused: session.end,
  onBadRequest: toast.error,
})
const queries = new QueryClient({
  defaultOptions: { queries: { retry: false } },
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => console.error(`Failed to load ${queryKey[0]}: ${error.message}`, error),
  }),
})
const router = createBrowserRouter(routesFor(session))

session.onEnd(() => {
  queries.clear()
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
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <ConfirmHost />
        <ToastHost />
      </QueryClientProvider>
    </Console>
  </StrictMode>,
)
