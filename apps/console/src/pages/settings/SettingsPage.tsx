import { settings as endpoints } from '@postern/contract/endpoints/settings'
import type { InstallationSettings } from '@postern/contract/settings/console-settings'
import { Pencil } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Link } from 'react-router'
import { errorMessage } from '../../api/api-error.ts'
import { useAnswer } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { Page } from '../../components/Page.tsx'
import { SettingsDialog } from '../../forms/dialogs.ts'
import { SECTIONS } from '../../forms/settings/sections.ts'
import type { SettingsSection } from '../../stores/draft.ts'
import { Button } from '../../ui/Button.tsx'
import { Skeleton } from '../../ui/data/Table.tsx'
import { ErrorPanel } from '../../ui/feedback/EmptyState.tsx'
import { serverUrls, urls } from '../../util/urls.ts'
import { BackupCard } from './BackupCard.tsx'
import { ConsoleSignInCard } from './ConsoleSignInCard.tsx'
import { FormerHosts } from './FormerHosts.tsx'
import { SettingRow } from './SettingRow.tsx'
import './SettingsPage.css'

/** How the installation is set up: what people can change here, and what its environment decides. */
export function SettingsPage() {
  const query = useAnswer(endpoints.getSettings, {})
  const [edited, setEdited] = useState<SettingsSection>()
  const { data: settings } = query
  return (
    <Page title="Settings" className="settings">
      <header className="head">
        <div>
          <h1>Settings</h1>
          <p className="lead">Changes are in force at once. A variable of the environment always wins.</p>
        </div>
      </header>
      {settings ? (
        <>
          <div className="setting-cards">
            {SECTION_NAMES.map((section) => (
              <SectionCard
                key={section}
                section={section}
                settings={settings}
                onEdit={() => setEdited(section)}
              />
            ))}
          </div>
          <ConsoleSignInCard settings={settings} onEdit={() => setEdited('signIn')} />
          <BackupCard />
          <StartSettings settings={settings} />
        </>
      ) : query.isError ? (
        <div className="panel">
          <ErrorPanel
            title="Couldn't load the settings"
            text={errorMessage(query.error)}
            onRetry={() => void query.refetch()}
            busy={query.isFetching}
          />
        </div>
      ) : (
        <Skeleton width={80} />
      )}
      <Suspense>
        {settings && edited && (
          <SettingsDialog section={edited} settings={settings} onClose={() => setEdited(undefined)} />
        )}
      </Suspense>
    </Page>
  )
}

// The keys of the table are its sections. The sign-in has a card with more than settings.
const SECTION_NAMES = Object.keys(SECTIONS).filter((name) => name !== 'signIn') as SettingsSection[]

interface CardProps {
  section: SettingsSection
  settings: InstallationSettings
  onEdit: () => void
}

function SectionCard({ section, settings, onEdit }: CardProps) {
  const { title, text, fields } = SECTIONS[section]
  const mayEdit = useRules().settings
  const rows = fields.flatMap(({ name, label }) => {
    const setting = settings.settings.find((each) => each.name === name)
    return setting ? [{ label, setting }] : []
  })
  const isLocked = rows.every(({ setting }) => setting.lockedBy !== null)
  return (
    <section className="card" aria-labelledby={`settings-${section}`}>
      <header className="card-head">
        <h2 id={`settings-${section}`}>{title}</h2>
        {section === 'provider' && (
          <Link className="btn sm" to={urls.testSignIn()}>
            Test
          </Link>
        )}
        {mayEdit && !isLocked && (
          <Button size="sm" icon={Pencil} aria-label={`Edit ${title}`} onClick={onEdit}>
            Edit
          </Button>
        )}
      </header>
      <div className="card-body">
        <p className="hint">{text}</p>
        <dl className="setting-list">
          {rows.map(({ label, setting }) => (
            <SettingRow key={label} term={label} setting={setting} />
          ))}
        </dl>
        {section === 'name' && <FormerHosts settings={settings} />}
      </div>
    </section>
  )
}

/** The rest of the installation's settings, read-only. */
function StartSettings({ settings }: { settings: InstallationSettings }) {
  return (
    <section className="card" aria-labelledby="settings-start">
      <header className="card-head">
        <h2 id="settings-start">Set When Postern Starts</h2>
      </header>
      <div className="card-body">
        <p className="hint">
          These are read from the environment. Change a variable there and start again:{' '}
          <a href={serverUrls.settings()} target="_blank" rel="noreferrer">
            documentation
          </a>
          .
        </p>
        <dl className="setting-list wide">
          {settings.settings
            .filter(({ isChangeable }) => !isChangeable)
            .map((setting) => (
              <SettingRow key={setting.name} setting={setting} term={<Variable name={setting.name} />} />
            ))}
        </dl>
      </div>
    </section>
  )
}

function Variable({ name }: { name: string }) {
  return (
    <a className="mono" href={serverUrls.setting(name)} target="_blank" rel="noreferrer">
      {name}
    </a>
  )
}
