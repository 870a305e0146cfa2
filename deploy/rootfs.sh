#!/usr/bin/env bash
# Builds the root file system of the image `service` without a container tool: Node 24 with the Debian libraries that it
# needs, and the packages of a release. For machines where no image can be built, and for the test of the image's files.
#
#   deploy/rootfs.sh release/sluice-0.1.0 /var/lib/machines/sluice
set -euo pipefail
if (($# != 2)) || [[ ! -d $1 ]]; then
  echo "usage: deploy/rootfs.sh FOLDER-WITH-TARBALLS EMPTY-FOLDER" >&2
  exit 2
fi
tarballs=$(realpath "$1") root=$(realpath -m "$2")
if [[ -e $root && -n $(ls -A "$root") ]]; then
  echo "$root: expected an empty folder" >&2
  exit 2
fi
node=${SLUICE_NODE:-$(command -v node)}
if [[ $("$node" --version) != v24.* ]]; then
  echo "$node: expected Node 24, got $("$node" --version)" >&2
  exit 2
fi

mkdir -p "$root"/{app,etc/sluice,nodejs/bin,proc,run/secrets,tmp,var/lib/sluice}
cp -L "$node" "$root/nodejs/bin/node"
for library in $(ldd "$node" | grep -o '/[^ ]*'); do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
# The authorities of TLS, for the nodes of chains.
if [[ -f /etc/ssl/certs/ca-certificates.crt ]]; then
  mkdir -p "$root/etc/ssl/certs"
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
fi
echo 'sluice:x:10001:10001::/app:/nonexistent' > "$root/etc/passwd"
echo 'sluice:x:10001:' > "$root/etc/group"

cd "$root/app"
npm install --omit=optional --no-audit --no-fund --no-package-lock --silent \
  "$tarballs"/sluice-{contracts,sdk,service}-*.tgz
du -sh "$root" | cut -f 1
