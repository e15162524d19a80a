import { consoleSignIn as endpoints } from '@postern/contract/endpoints/console-sign-in'
import type { InstallationSettings } from '@postern/contract/settings/console-settings'
import type { ConsoleProvider } from '@postern/contract/sign-in/console-providers'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { Pencil, Plus } from 'lucide-react'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useApi } from '../../api/context.ts'
import { useAnswer } from '../../api/queries.ts'
import { SECTIONS } from '../../forms/settings/sections.ts'
import { findSetting } from '../../forms/settings/settings-values.ts'
import { AnswerTable } from '../../table/AnswerTable.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { EmptyState } from '../../ui/feedback/EmptyState.tsx'
import { serverUrls } from '../../util/urls.ts'
import { providerColumns } from './provider-columns.tsx'
import { SettingRow } from './SettingRow.tsx'

const ProviderDialog = lazy(async () => ({
  default: (await import('../../forms/console-sign-in/ProviderDialog.tsx')).ProviderDialog,
}))
const PasswordRuleDialog = lazy(async () => ({
  default: (await import('../../forms/console-sign-in/PasswordRuleDialog.tsx')).PasswordRuleDialog,
}))

interface Props {
  settings: InstallationSettings
  /** Edits what is a setting. */
  onEdit: () => void
}

type Open = 'password' | { provider: ConsoleProvider | undefined } | null

/** How people sign in to the console: what they need, who may use a password, and the providers. */
export function ConsoleSignInCard({ settings, onEdit }: Props) {
  const api = useApi()
  const queries = useQueryClient()
  const answer = useAnswer(endpoints.getConsoleSignIn, {})
  const [open, setOpen] = useState<Open>(null)
  const columns = useMemo(
    () => providerColumns(api, queries, (provider) => setOpen({ provider })),
    [api, queries],
  )
  const { data } = answer
  const providers = { ...answer, data: data?.providers } as UseQueryResult<ConsoleProvider[]>
  const close = () => setOpen(null)
  const add = (
    <Button size="sm" icon={Plus} disabled={!data} onClick={() => setOpen({ provider: undefined })}>
      Add Provider
    </Button>
  )
  return (
    <section className="card console-sign-in" aria-labelledby="settings-signIn">
      <header className="card-head">
        <h2 id="settings-signIn">{SECTIONS.signIn.title}</h2>
        <div className="acts">{add}</div>
      </header>
      <div className="card-body">
        <p className="hint">
          What people who sign in here need, and the providers with which they can:{' '}
          <a href={serverUrls.consoleSignIn()} target="_blank" rel="noreferrer">
            documentation
          </a>
          .
        </p>
        <dl className="setting-list with-acts">
          <SecondFactorRow settings={settings} onEdit={onEdit} />
          {data && <PasswordRow only={data.passwordOnlyFor?.username} onEdit={() => setOpen('password')} />}
          {data && <RedirectRow address={data.redirectUrl} />}
        </dl>
      </div>
      <AnswerTable
        inCard
        answer={providers}
        caption="Providers"
        noun="providers"
        columns={columns}
        empty={
          <EmptyState
            door="ajar"
            title="No providers yet"
            text="With one, people sign in to the console by Google, Microsoft, GitHub or your own OpenID provider."
          />
        }
      />
      <Suspense>
        {data && open === 'password' && (
          <PasswordRuleDialog passwordOnlyFor={data.passwordOnlyFor} onClose={close} />
        )}
        {data && open !== null && open !== 'password' && (
          <ProviderDialog provider={open.provider} redirectUrl={data.redirectUrl} onClose={close} />
        )}
      </Suspense>
    </section>
  )
}

interface SecondFactorProps {
  settings: InstallationSettings
  onEdit: () => void
}

function SecondFactorRow({ settings, onEdit }: SecondFactorProps) {
  const [field] = SECTIONS.signIn.fields
  const setting = field && findSetting(settings, field.name)
  if (!field || !setting) return null
  return (
    <SettingRow
      term={field.label}
      setting={setting}
      action={
        setting.lockedBy === null && (
          <Button size="sm" icon={Pencil} aria-label={`Edit ${SECTIONS.signIn.title}`} onClick={onEdit}>
            Edit
          </Button>
        )
      }
    />
  )
}

function PasswordRow({ only, onEdit }: { only: string | undefined; onEdit: () => void }) {
  return (
    <div>
      <dt>Password Sign-In</dt>
      <dd>
        {only === undefined ? (
          'Everybody'
        ) : (
          <>
            <span>
              Only <b dir="auto">{only}</b>
            </span>
            <span className="setting-note">
              <span>
                If nobody gets in any more, run <code>npm run password</code> on the server.
              </span>
            </span>
          </>
        )}
      </dd>
      <dd>
        <Button size="sm" icon={Pencil} aria-label="Edit Password Sign-In" onClick={onEdit}>
          Edit
        </Button>
      </dd>
    </div>
  )
}

function RedirectRow({ address }: { address: string }) {
  return (
    <div>
      <dt>Redirect Address</dt>
      <dd>
        <span className="mono">{address}</span>
        <span className="setting-note">What has to be entered at each provider.</span>
      </dd>
      <dd>
        <CopyButton size="sm" label="Copy redirect address" value={address} />
      </dd>
    </div>
  )
}
