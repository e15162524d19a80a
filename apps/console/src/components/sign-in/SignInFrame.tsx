import type { ReactNode } from 'react'
import { markArrival } from '../../stores/arrival.ts'
import { Glyph } from '../Glyph.tsx'
import { ThemeToggle } from '../ThemeToggle.tsx'
import { LoginArt } from './LoginArt.tsx'
import './SignInFrame.css'

/** The frame of the pages before the console. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="login">
      <title>{`${title} · Postern`}</title>
      <LoginArt />
      <div className="login-side">
        <div className="login-box">
          <p className="login-brand">
            <Glyph />
            <span className="word">Postern</span>
          </p>
          <h1>{title}</h1>
          <p className="lead">
            The console of <span className="mono">{location.host}</span>
          </p>
          {children}
        </div>
        <div className="login-foot">
          <ThemeToggle />
        </div>
      </div>
    </main>
  )
}

/** Never settles: the button stays busy until the next page takes over. */
export function leaveFor(path: string): Promise<never> {
  markArrival()
  location.replace(path)
  return new Promise(() => {})
}
