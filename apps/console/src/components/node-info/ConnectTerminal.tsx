import type { Config } from '@postern/contract/config'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Terminal } from '../terminal/Terminal.tsx'
import { connectCommandText, renderConnectCommand } from './connect-command.ts'

const RESULTS = ['Configuring postern...', 'Connecting node...', 'Connection established!']
const LOOKS = { text: undefined, flag: 'fl', secret: 'se' } as const

/** The command as a demo with the token hidden; copying gives the real one. */
export function ConnectTerminal({ config, token }: { config: Config; token: string }) {
  const parts = renderConnectCommand(location.origin, config)
  return (
    <Terminal
      command={parts.map(({ kind, text }) => (
        <span key={text} className={LOOKS[kind]}>
          {text}
        </span>
      ))}
      results={RESULTS}
      action={
        <CopyButton
          size="sm"
          variant="ghost"
          text="Copy command"
          label="Copy command"
          value={connectCommandText(parts, token)}
        />
      }
    />
  )
}
