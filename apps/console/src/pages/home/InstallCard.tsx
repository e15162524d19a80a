import { ArrowUpRight } from 'lucide-react'
import { wordsForError } from '../../api/api-error.ts'
import { useConfig } from '../../hooks/installation.ts'
import { Banner } from '../../ui/Banner.tsx'
import { CopyField } from '../../ui/CopyButton.tsx'
import { Skeleton } from '../../ui/Table.tsx'
import { installCommand } from '../../util/install-command.ts'
import { serverUrls } from '../../util/urls.ts'

export function InstallCard() {
  return (
    <section className="card" aria-labelledby="install-cli">
      <header className="card-head">
        <h2 id="install-cli">Install the CLI</h2>
        <a className="more" href={serverUrls.cli()} target="_blank" rel="noreferrer">
          Documentation
          <ArrowUpRight className="ic" />
        </a>
      </header>
      <div className="card-body">
        <p>
          The <code>postern</code> command joins a machine and keeps it connected. Run this as root on the
          node:
        </p>
        <Command />
      </div>
    </section>
  )
}

function Command() {
  const config = useConfig()
  if (config.isError)
    return (
      <Banner kind="bad" role="alert">
        <p>Couldn't load the install command. {wordsForError(config.error)}</p>
      </Banner>
    )
  if (!config.data)
    return (
      <div className="waiting">
        <Skeleton width={80} />
      </div>
    )
  const command = installCommand(config.data)
  if (command !== null) return <CopyField label="Install command" value={command} />
  return (
    <Banner kind="warn">
      <p>
        This installation was started without the CLI. The{' '}
        <a href={serverUrls.cli()} target="_blank" rel="noreferrer">
          documentation
        </a>{' '}
        says how to build it.
      </p>
    </Banner>
  )
}
