import type { ReactNode } from 'react'
import { Glyph } from '../Glyph.tsx'
import { ThemeToggle } from '../ThemeToggle.tsx'
import { LoginArt } from './LoginArt.tsx'
import './LoginFrame.css'

interface Props {
  title: string
  lead: ReactNode
  children: ReactNode
}

/** A page without the console around it: for people who are not inside yet. */
export function LoginFrame({ title, lead, children }: Props) {
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
          <p className="lead">{lead}</p>
          {children}
        </div>
        <div className="login-foot">
          <ThemeToggle />
        </div>
      </div>
    </main>
  )
}
