import { Glyph } from '../../components/Glyph.tsx'
import { ThemeToggle } from '../../components/ThemeToggle.tsx'
import { serverUrls } from '../../util/urls.ts'
import { LoginArt } from './LoginArt.tsx'
import { LoginForm } from './LoginForm.tsx'
import './LoginPage.css'

export function LoginPage() {
  return (
    <main className="login">
      <title>Sign in · Postern</title>
      <LoginArt />
      <div className="login-side">
        <div className="login-box">
          <p className="login-brand">
            <Glyph />
            <span className="word">Postern</span>
          </p>
          <h1>Sign in</h1>
          <p className="lead">
            The console of <span className="mono">{location.host}</span>
          </p>
          <LoginForm />
          <p className="fine">
            By signing in you agree to the{' '}
            <a href={serverUrls.terms()} target="_blank" rel="noreferrer">
              terms of service
            </a>
            .
          </p>
        </div>
        <div className="login-foot">
          <ThemeToggle />
        </div>
      </div>
    </main>
  )
}
