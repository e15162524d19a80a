import { createApi } from './api/client.ts'
import type { ConsoleContext } from './api/context.ts'
import { createSession } from './stores/session.ts'
import { toast } from './ui/feedback/Toasts.tsx'
import { urls } from './util/urls.ts'

/** The session of this browser, and the client of its server. */
export function connect(): ConsoleContext {
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
    onAccepted: session.accept,
    onRefused: () => session.end(false),
    onSignIn: () => location.reload(),
    onFactorWanted() {
      if (location.pathname === urls.setUpFactor()) return
      session.remember(location.pathname + location.search + location.hash)
      location.replace(urls.setUpFactor())
    },
    // Seldom asked for.
    onConfirm: async () => (await import('./api/confirm-person.ts')).confirmPerson(api),
    onBadRequest: toast.error,
  })
  return { api, session }
}

/** 32 random bytes as hexadecimal digits. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
