import { Suspense, useEffect, useState } from 'react'
import { DomainDialog, NodeDialog, ServiceDialog, SettingsDialog, TokenDialog } from '../../forms/dialogs.ts'
import { type Draft, dropDraft, findDraft } from '../../stores/draft.ts'

/** Reopens the form that was open when the session ended, with what was typed. */
export function DraftHost() {
  const [draft, setDraft] = useState(findDraft)
  useEffect(dropDraft, [])
  return <Suspense>{draft && <DraftDialog draft={draft} onClose={() => setDraft(undefined)} />}</Suspense>
}

function DraftDialog({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const { values } = draft
  switch (draft.form) {
    case 'node':
      return <NodeDialog node={draft.node} draft={values} onClose={onClose} />
    case 'service':
      return (
        <ServiceDialog
          node={draft.node}
          type={draft.type}
          service={draft.service}
          draft={values}
          onClose={onClose}
        />
      )
    case 'domain':
      return <DomainDialog domain={draft.domain} draft={values} onClose={onClose} />
    case 'settings':
      return <SettingsDialog {...draft} draft={values} onClose={onClose} />
    case 'token':
      return <TokenDialog node={draft.node} draft={values} onClose={onClose} />
  }
}
