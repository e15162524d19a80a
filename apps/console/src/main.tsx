import './styles/index.css'
import { connect } from './connect.ts'
import { urls } from './util/urls.ts'

/** The sign-in page is a document of its own, so that it does not wait for what only the other pages need. */
async function start(root: HTMLElement): Promise<void> {
  const { mount } =
    location.pathname === urls.login()
      ? await import('./mount-login.tsx')
      : await import('./mount-console.tsx')
  await mount(root, connect())
}

const root = document.querySelector<HTMLElement>('#root')
if (!root) throw new Error('The page has no #root')
start(root).catch((error: unknown) => {
  console.error('The console could not be loaded', error)
  root.textContent = 'The console could not be loaded. Reload the page.'
})
