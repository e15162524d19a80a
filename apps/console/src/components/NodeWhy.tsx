import type { Node } from '@postern/contract/nodes'

/** What is wrong with a node, and that its file is of a time with fewer edges. */
export function NodeWhy({ node: { problem, fileEdges } }: { node: Pick<Node, 'problem' | 'fileEdges'> }) {
  const isOld = fileEdges !== null && fileEdges.known < fileEdges.all
  return (
    <>
      {problem && <p className="why bad">{problem}</p>}
      {isOld && (
        <p className="why warn">
          This file knows {fileEdges.known} of {fileEdges.all} edges: download it again
        </p>
      )}
    </>
  )
}
