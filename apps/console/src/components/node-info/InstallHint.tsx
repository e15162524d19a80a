import type { Config } from '@postern/contract/config'
import { CopyField } from '../../ui/CopyField.tsx'
import { installCommand } from '../../util/install-command.ts'

/** How the CLI comes onto the machine, for those who do not have it there yet. */
export function InstallHint({ config }: { config: Config }) {
  const command = installCommand(config)
  if (command === null) return null
  return (
    <div className="field">
      <span className="label">No CLI on that machine yet? Install it there as root first</span>
      <CopyField label="Install command" value={command} />
    </div>
  )
}
