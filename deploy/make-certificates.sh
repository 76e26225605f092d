#!/bin/sh
# Makes a private CA, certificates for the gRPC link of both planes, and a self-signed front certificate.
# usage: make-certificates.sh DIRECTORY [front host name]
set -eu
dir=$1
host=${2:-localhost}
mkdir -p "$dir"
cd "$dir"
umask 077
[ -e ca.key ] && { echo "$dir/ca.key exists: nothing was changed" >&2; exit 1; }
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=gateway link CA" \
  -keyout ca.key -out ca.crt 2>/dev/null
for plane in controlplane dataplane; do
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$plane" -keyout $plane.key -out $plane.csr 2>/dev/null
  printf 'subjectAltName=DNS:%s,DNS:controlplane-grpc,DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n' $plane > $plane.ext
  openssl x509 -req -in $plane.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 -extfile $plane.ext -out $plane.crt 2>/dev/null
  rm $plane.csr $plane.ext
done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=$host" \
  -addext "subjectAltName=DNS:$host" -keyout tls.key -out tls.crt 2>/dev/null
chmod 0644 ./*.crt
chmod 0640 controlplane.key dataplane.key # readable by the group of the container's user
echo "written: $dir"
