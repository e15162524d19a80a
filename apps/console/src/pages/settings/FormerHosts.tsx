import { settings as endpoints } from '@postern/contract/endpoints/settings'
import type { InstallationSettings } from '@postern/contract/settings/console-settings'
import { useQueryClient } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useApi } from '../../api/context.ts'
import { reload } from '../../api/queries.ts'
import { useRules } from '../../api/rules.ts'
import { ask } from '../../components/ask.ts'
import { IconButton } from '../../ui/Button.tsx'

/** The names from before at which the installation still answers; a person ends that. */
export function FormerHosts({ settings: { formerHosts, updated_at } }: { settings: InstallationSettings }) {
  const api = useApi()
  const queries = useQueryClient()
  const mayEdit = useRules().settings
  if (formerHosts.length === 0) return null
  const remove = (host: string) =>
    ask({
      question: {
        title: 'Stop answering at this name',
        description: (
          <>
            Agents that were connected with <b className="mono">{host}</b> lose the server, and whoever uses
            the console at that name is signed out. Connect those agents again with the present name first.
          </>
        ),
        acceptButtonText: 'Yes, stop it!',
      },
      act: () => {
        const kept = formerHosts.filter((other) => other !== host)
        return api.call(endpoints.updateSettings, { body: { formerHosts: kept, updated_at } })
      },
      done: 'The name was removed',
      subject: host,
      refresh: () => reload(queries, { queryKey: [endpoints.getSettings.path] }),
    })
  return (
    <div className="field">
      <span className="label">Also Answers At</span>
      <ul className="former-hosts">
        {formerHosts.map((host) => (
          <li key={host}>
            <span className="mono">{host}</span>
            {mayEdit && (
              <IconButton
                label={`Stop answering at ${host}`}
                icon={Trash2}
                onClick={() => void remove(host)}
              />
            )}
          </li>
        ))}
      </ul>
      <p className="hint">Names from before, for agents and people who still use them.</p>
    </div>
  )
}
