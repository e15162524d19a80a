import './styles/index.css'
import { connect } from './connect.ts'
import { urls } from './util/urls.ts'

/** The pages before the sign-in are documents of their own, so that they do not wait for what only the others need. */
async function start(root: HTMLElement): Promise<void> {
  const { mount } = await mountOf(location.pathname)
  await mount(root, connect())
}

function mountOf(path: string) {
  if (path === urls.login()) return import('./mount-login.tsx')
  return path === urls.invite() ? import('./mount-invite.tsx') : import('./mount-console.tsx')
}

const root = document.querySelector<HTMLElement>('#root')
if (!root) throw new Error('The page has no #root')
start(root).catch((error: unknown) => {
  console.error('The console could not be loaded', error)
  root.textContent = 'The console could not be loaded. Reload the page.'
})
